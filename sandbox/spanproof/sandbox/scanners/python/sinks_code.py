"""Sinks of the interpreter: code from text, loaders, threads, exit; `sinks` says how to read a line."""

from __future__ import annotations

from typing import Final

TABLE: Final = """
os.getenv                         env 0 key
os.environ.get                    env 0 key
os.environ.pop                    env 0 key
os.environ.setdefault             envset 0 key
os.environ.__getitem__            env 0 key
os.environ.__contains__           env 0 key
os.environ.items                  envall
os.environ.keys                   envall
os.environ.values                 envall
os.environ.copy                   envall
os.environ.__iter__               envall
os.environ.update                 none
os.putenv                         envset 0 key
os.unsetenv                       none
os.get_exec_path                  envall
sys._getframe                     review escape.internals
sys.settrace                      review escape.internals
sys.setprofile                    review escape.internals
sys.addaudithook                  review escape.internals
gc.get_objects                    review escape.internals
gc.get_referrers                  review escape.internals
inspect.currentframe              review escape.internals
inspect.stack                     review escape.internals
types.CodeType                    deny escape.dunder
types.FunctionType                review escape.internals
exec                              code 0 source
eval                              code 0 source
code.interact                     review exec.dynamic
code.InteractiveInterpreter().runsource  code 0 source
code.InteractiveInterpreter().runcode    code 0 code
code.InteractiveConsole().push    code 0 line
timeit.timeit                     codeopt 0 stmt; codeopt 1 setup
timeit.Timer                      codeopt 0 stmt; codeopt 1 setup
cProfile.run                      code 0 statement
profile.run                       code 0 statement
pdb.run                           code 0 statement
bdb.Bdb().run                     code 0 cmd
trace.Trace().run                 code 0 cmd
doctest.run_docstring_examples    none
numexpr.evaluate                  none
marshal.loads                     review exec.dynamic
marshal.load                      review exec.dynamic
pickle.loads                      pickle 0 data
pickle.load                       picklefile 0 file
pickle.Unpickler                  picklefile 0 file
jsonpickle.decode                 pickle 0 string
jsonpickle.loads                  pickle 0 string
shelve.Shelf                      review deserialize.untrusted
yaml.load                         yaml 0 stream
yaml.load_all                     yaml 0 stream
yaml.unsafe_load                  unsafeyaml 0 stream
yaml.unsafe_load_all              unsafeyaml 0 stream
yaml.full_load                    yaml 0 stream
pip.main                          review command.install
pip._internal.main                review command.install
atexit.register                   callback 0 func
threading.Thread                  thread 1 target
threading.Timer                   thread 1 function
multiprocessing.Process           thread 1 target
multiprocessing.context.Process   thread 1 target
signal.signal                     none
concurrent.futures.ThreadPoolExecutor().submit   callback 0 fn
concurrent.futures.ProcessPoolExecutor().submit  callback 0 fn
multiprocessing.Pool().apply      thread 0 func
multiprocessing.Pool().apply_async thread 0 func
asyncio.get_event_loop().run_in_executor  callback 1 func
asyncio.to_thread                 callback 0 func
_posixshmem.shm_open              deny exec.native
faulthandler.dump_traceback       none
resource.setrlimit                deny process.inspect
"""
