"""Calls that reach beyond the program, and which argument says where.

Each line: a resolved name, then effects separated by `;`. An effect is a kind, a position and a keyword
(`read 0 path`), or a kind and a rule (`deny process.fork`). Kinds:

    read write delete permission   a path                       open      a path, by its mode argument
    load                           a path or a URL to read      save      a path or a buffer to write
    url host                       where to connect             address   a (host, port) pair
    shell                          a command line               argv      a program with its arguments
    spawn                          a program, arguments after   code      Python source
    env                            a variable's name            pickle    bytes of a pickle
    sql                            a statement                  dburl     a database's URL
    callback                       a function, its arguments    deny review  whatever the arguments

`self` as position is the object the method is called on.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Effect(NamedTuple):
    """One thing a call does; `position` -1 is the receiver, -2 no argument at all."""

    kind: str
    position: int
    keyword: str


_SINKS = """
open                              open 0 file
os.open                           osopen 0 path
os.fdopen                         none
aiofiles.open                     open 0 file
anyio.open_file                   open 0 file
anyio.Path().read_text            pathself read
io.open_code                      read 0 path
fileinput.input                   read 0 files
linecache.getline                 read 0 filename
linecache.getlines                read 0 filename
tokenize.open                     read 0 filename
os.listdir                        read 0 path
os.scandir                        read 0 path
os.walk                           read 0 top
os.fwalk                          read 0 top
os.stat                           read 0 path
os.lstat                          read 0 path
os.statvfs                        read 0 path
os.access                         read 0 path
os.readlink                       read 0 path
os.chdir                          read 0 path
os.path.exists                    read 0 path
os.path.isfile                    read 0 path
os.path.isdir                     read 0 path
os.path.islink                    read 0 path
os.path.lexists                   read 0 path
os.path.getsize                   read 0 filename
os.path.getmtime                  read 0 filename
os.path.getctime                  read 0 filename
os.remove                         delete 0 path
os.unlink                         delete 0 path
os.rmdir                          delete 0 path
os.removedirs                     delete 0 name
os.mkdir                          write 0 path
os.makedirs                       write 0 name
os.mkfifo                         write 0 path
os.mknod                          write 0 path
os.truncate                       write 0 path
os.utime                          write 0 path
os.rename                         delete 0 src; write 1 dst
os.renames                        delete 0 old; write 1 new
os.replace                        delete 0 src; write 1 dst
os.link                           read 0 src; write 1 dst
os.symlink                        read 0 src; write 1 dst
os.chmod                          permission 0 path
os.lchmod                         permission 0 path
os.chown                          permission 0 path; deny privilege.change
os.lchown                         permission 0 path; deny privilege.change
os.fchown                         deny privilege.change
os.chroot                         deny privilege.change
os.setuid                         deny privilege.change
os.setgid                         deny privilege.change
os.seteuid                        deny privilege.change
os.setegid                        deny privilege.change
os.setreuid                       deny privilege.change
os.setresuid                      deny privilege.change
os.setgroups                      deny privilege.change
os.initgroups                     deny privilege.change
os.kill                           deny process.signal
os.killpg                         deny process.signal
signal.pthread_kill               deny process.signal
signal.raise_signal               review process.signal
signal.pidfd_send_signal          deny process.signal
os.abort                          review process.signal
os.fork                           deny process.fork
os.forkpty                        deny process.fork
os.nice                           review process.inspect
os.setpriority                    deny process.inspect
os.sched_setaffinity              review process.inspect
os.ptrace                         deny process.inspect
os.reboot                         deny system.change
os.sethostname                    deny system.change
socket.sethostname                deny system.change
os.memfd_create                   deny exec.native
os.getlogin                       review environment.read
os.system                         shell 0 command
os.popen                          shell 0 cmd
os.startfile                      read 0 path; deny process.start
subprocess.getoutput              shell 0 cmd
subprocess.getstatusoutput        shell 0 cmd
subprocess.run                    argv 0 args
subprocess.call                   argv 0 args
subprocess.check_call             argv 0 args
subprocess.check_output           argv 0 args
subprocess.Popen                  argv 0 args
subprocess.fork_exec              deny process.start
asyncio.create_subprocess_shell   shell 0 cmd
asyncio.create_subprocess_exec    spawn 0 program
asyncio.subprocess.create_subprocess_shell  shell 0 cmd
asyncio.subprocess.create_subprocess_exec   spawn 0 program
os.execl                          spawnv 0 path
os.execle                         spawnv 0 path
os.execlp                         spawnv 0 file
os.execlpe                        spawnv 0 file
os.execv                          argv 1 argv; argv 0 path
os.execve                         argv 1 argv; argv 0 path
os.execvp                         argv 1 args; argv 0 file
os.execvpe                        argv 1 args; argv 0 file
os.spawnl                         spawnv 1 file
os.spawnle                        spawnv 1 file
os.spawnlp                        spawnv 1 file
os.spawnv                         argv 2 args; argv 1 file
os.spawnve                        argv 2 args; argv 1 file
os.spawnvp                        argv 2 args; argv 1 file
os.posix_spawn                    argv 1 argv; argv 0 path
os.posix_spawnp                   argv 1 argv; argv 0 path
pty.spawn                         argv 0 argv; deny process.start
pty.fork                          deny process.fork
distutils.spawn.spawn             argv 0 cmd
platform.popen                    shell 0 cmd
pipes.Template                    review process.start
get_ipython().system              shell 0 cmd
get_ipython().getoutput           shell 0 cmd
shutil.copy                       read 0 src; write 1 dst
shutil.copy2                      read 0 src; write 1 dst
shutil.copyfile                   read 0 src; write 1 dst
shutil.copytree                   read 0 src; write 1 dst
shutil.copymode                   read 0 src; permission 1 dst
shutil.copystat                   read 0 src; permission 1 dst
shutil.move                       delete 0 src; write 1 dst
shutil.rmtree                     delete 0 path
shutil.chown                      permission 0 path; deny privilege.change
shutil.make_archive               write 0 base_name; readopt 2 root_dir; readopt 3 base_dir
shutil.unpack_archive             read 0 filename; writeopt 1 extract_dir
shutil.disk_usage                 read 0 path
shutil.which                      none
glob.glob                         read 0 pathname
glob.iglob                        read 0 pathname
zipfile.ZipFile                   open 0 file
zipfile.ZipFile().write           read 0 filename
zipfile.ZipFile().extractall      writeopt 0 path
zipfile.ZipFile().extract         writeopt 1 path
tarfile.open                      open 0 name
tarfile.TarFile                   open 0 name
tarfile.open().add                read 0 name
tarfile.open().extractall         writeopt 0 path
tarfile.open().extract            writeopt 1 path
gzip.open                         open 0 filename
gzip.GzipFile                     open 0 filename
bz2.open                          open 0 filename
bz2.BZ2File                       open 0 filename
lzma.open                         open 0 filename
mmap.mmap                         none
watchdog.observers.Observer().schedule  read 1 path
watchdog.observers.polling.PollingObserver().schedule  read 1 path
pyinotify.WatchManager().add_watch read 0 path
inotify.adapters.Inotify().add_watch read 0 path_unicode
inotify.adapters.InotifyTree      read 0 path
shelve.open                       write 0 filename
dbm.open                          write 0 file
sqlite3.connect                   dbfile 0 database
duckdb.connect                    dbfile 0 database
duckdb.sql                        sql 0 query
duckdb.query                      sql 0 query
duckdb.execute                    sql 0 query
aiosqlite.connect                 dbfile 0 database
logging.FileHandler               write 0 filename
logging.handlers.RotatingFileHandler  write 0 filename
logging.handlers.SysLogHandler    addressopt 0 address
logging.handlers.HTTPHandler      host 0 host
logging.handlers.SMTPHandler      host 0 mailhost
logging.handlers.SocketHandler    host 0 host
logging.basicConfig               writeopt 9 filename
tempfile.NamedTemporaryFile       writeopt 9 dir
tempfile.mkdtemp                  writeopt 2 dir
tempfile.mkstemp                  writeopt 2 dir
configparser.ConfigParser().read  read 0 filenames
dotenv.load_dotenv                readopt 0 dotenv_path; review environment.read
dotenv.dotenv_values              readopt 0 dotenv_path
runpy.run_path                    read 0 path_name; review exec.dynamic
runpy.run_module                  review exec.dynamic
importlib.machinery.SourceFileLoader       read 1 path; review exec.dynamic
importlib.util.spec_from_file_location     read 1 location; review exec.dynamic
imp.load_source                   read 1 pathname; review exec.dynamic
importlib.load_source             read 1 pathname; review exec.dynamic
zipimport.zipimporter             read 0 path; review exec.dynamic
xml.etree.ElementTree.parse       load 0 source
xml.dom.minidom.parse             load 0 file
lxml.etree.parse                  load 0 source
lxml.html.parse                   load 0 filename_or_url
os.path.realpath                  none
pwd.getpwall                      deny process.inspect
pwd.getpwnam                      deny process.inspect
grp.getgrall                      deny process.inspect
spwd.getspall                     deny process.inspect
pandas.read_csv                   load 0 filepath_or_buffer
pandas.read_table                 load 0 filepath_or_buffer
pandas.read_fwf                   load 0 filepath_or_buffer
pandas.read_excel                 load 0 io
pandas.ExcelFile                  load 0 path_or_buffer
pandas.ExcelWriter                save 0 path
pandas.read_json                  load 0 path_or_buf
pandas.read_html                  load 0 io
pandas.read_xml                   load 0 path_or_buffer
pandas.read_parquet               load 0 path
pandas.read_feather               load 0 path
pandas.read_orc                   load 0 path
pandas.read_hdf                   load 0 path_or_buf
pandas.HDFStore                   write 0 path
pandas.read_sas                   load 0 filepath_or_buffer
pandas.read_spss                  load 0 path
pandas.read_stata                 load 0 filepath_or_buffer
pandas.read_pickle                load 0 filepath_or_buffer; review deserialize.untrusted
pandas.read_sql                   sql 0 sql
pandas.read_sql_query             sql 0 sql
pandas.read_clipboard             review process.inspect
pandas.eval                       code 0 expr
polars.read_csv                   load 0 source
polars.scan_csv                   load 0 source
polars.read_parquet               load 0 source
polars.scan_parquet               load 0 source
polars.read_json                  load 0 source
polars.read_excel                 load 0 source
pyarrow.parquet.read_table        load 0 source
pyarrow.csv.read_csv              load 0 input_file
numpy.load                        load 0 file
numpy.loadtxt                     load 0 fname
numpy.genfromtxt                  load 0 fname
numpy.fromfile                    load 0 file
numpy.memmap                      open 0 filename
numpy.save                        save 0 file
numpy.savez                       save 0 file
numpy.savez_compressed            save 0 file
numpy.savetxt                     save 0 fname
matplotlib.pyplot.savefig         save 0 fname
matplotlib.pyplot.imread          load 0 fname
matplotlib.pyplot.imsave          save 0 fname
matplotlib.image.imread           load 0 fname
PIL.Image.open                    load 0 fp
cv2.imread                        read 0 filename
cv2.imwrite                       write 0 filename
imageio.imread                    load 0 uri
imageio.imwrite                   save 0 uri
scipy.io.loadmat                  read 0 file_name
scipy.io.savemat                  write 0 file_name
scipy.io.wavfile.read             load 0 filename
openpyxl.load_workbook            load 0 filename
docx.Document                     loadopt 0 docx
PyPDF2.PdfReader                  load 0 stream
pypdf.PdfReader                   load 0 stream
pdfplumber.open                   load 0 path_or_fp
fitz.open                         loadopt 0 filename
geopandas.read_file               load 0 filename
joblib.dump                       save 1 filename
joblib.load                       load 0 filename; review deserialize.untrusted
torch.load                        load 0 f; review deserialize.untrusted
torch.save                        save 1 f
torch.hub.load                    review exec.download
torch.hub.load_state_dict_from_url url 0 url
keras.models.load_model           read 0 filepath; review deserialize.untrusted
shap.datasets.adult               review network.implicit
seaborn.load_dataset              review network.implicit
sklearn.datasets.fetch_openml     review network.implicit
sklearn.datasets.fetch_california_housing review network.implicit
sklearn.datasets.fetch_20newsgroups review network.implicit
nltk.download                     review network.implicit
yfinance.download                 review network.implicit
yfinance.Ticker                   review network.implicit
datasets.load_dataset             review network.implicit
transformers.pipeline             review network.implicit
wikipedia.summary                 review network.implicit
wikipedia.page                    review network.implicit
kagglehub.dataset_download        review network.implicit
huggingface_hub.hf_hub_download   review network.implicit
requests.get                      url 0 url
requests.post                     url 0 url
requests.put                      url 0 url
requests.patch                    url 0 url
requests.delete                   url 0 url
requests.head                     url 0 url
requests.options                  url 0 url
requests.request                  url 1 url
requests.Session().get            url 0 url
requests.Session().post           url 0 url
requests.Session().put            url 0 url
requests.Session().patch          url 0 url
requests.Session().delete         url 0 url
requests.Session().head           url 0 url
requests.Session().options        url 0 url
requests.Session().stream         url 1 url
requests.Session().request        url 1 url
requests.Session().ws_connect     url 0 url
requests.Request                  url 1 url
aiohttp.request                   url 1 url
urllib.request.urlopen            url 0 url
urllib.request.urlretrieve        url 0 url; writeopt 1 filename
urllib.request.Request            url 0 url
urllib.request.URLopener().open   url 0 fullurl
urllib.request.FancyURLopener().open url 0 fullurl
urllib.request.build_opener().open url 0 fullurl
urllib.request.OpenerDirector().open url 0 fullurl
urllib3.request                   url 1 url
urllib3.HTTPConnectionPool        host 0 host
urllib3.HTTPSConnectionPool       host 0 host
urllib3.connection_from_url       url 0 url
http.client.HTTPConnection        host 0 host
http.client.HTTPSConnection       host 0 host
httplib2.Http().request           url 0 uri
httpx.get                         url 0 url
httpx.post                        url 0 url
httpx.put                         url 0 url
httpx.patch                       url 0 url
httpx.delete                      url 0 url
httpx.head                        url 0 url
httpx.request                     url 1 url
httpx.stream                      url 1 url
pycurl.Curl().setopt              review network.dynamic
wget.download                     url 0 url; writeopt 1 out
gdown.download                    url 0 url; writeopt 1 output
webbrowser.open                   url 0 url
webbrowser.open_new               url 0 url
webbrowser.open_new_tab           url 0 url
feedparser.parse                  load 0 url_file_stream_or_string
websocket.create_connection       url 0 url
websocket.WebSocketApp            url 0 url
websockets.connect                url 0 uri
socket.socket().connect           address 0 address
socket.socket().connect_ex        address 0 address
socket.socket().sendto            addresslast 1 address
socket.socket().bind              deny network.listen
socket.socket().listen            deny network.listen
socket.create_connection          address 0 address
socket.create_server              deny network.listen
socket.gethostbyname              host 0 hostname
socket.gethostbyname_ex           host 0 hostname
socket.getaddrinfo                host 0 host
socket.gethostbyaddr              host 0 ip_address
socket.getnameinfo                address 0 sockaddr
asyncio.open_connection           host 0 host
asyncio.start_server              deny network.listen
asyncio.get_event_loop().create_connection host 1 host
http.server.HTTPServer            deny network.listen
http.server.ThreadingHTTPServer   deny network.listen
socketserver.TCPServer            deny network.listen
socketserver.UDPServer            deny network.listen
socketserver.ThreadingTCPServer   deny network.listen
wsgiref.simple_server.make_server deny network.listen
xmlrpc.client.ServerProxy         url 0 uri
xmlrpc.server.SimpleXMLRPCServer  deny network.listen
flask.Flask().run                 deny network.listen
uvicorn.run                       deny network.listen
smtplib.SMTP                      host 0 host
smtplib.SMTP_SSL                  host 0 host
smtplib.SMTP().connect            host 0 host
smtplib.SMTP().sendmail           none
smtplib.LMTP                      host 0 host
imaplib.IMAP4                     host 0 host
imaplib.IMAP4_SSL                 host 0 host
poplib.POP3                       host 0 host
poplib.POP3_SSL                   host 0 host
nntplib.NNTP                      host 0 host
ftplib.FTP                        hostopt 0 host
ftplib.FTP_TLS                    hostopt 0 host
ftplib.FTP().connect              host 0 host
telnetlib.Telnet                  hostopt 0 host
telnetlib.Telnet().open           host 0 host
paramiko.SSHClient().connect      host 0 hostname
paramiko.Transport                host 0 sock
paramiko.SSHClient().exec_command deny process.start
asyncssh.connect                  host 0 host
pysftp.Connection                 host 0 host
fabric.Connection                 host 0 host
ldap3.Server                      host 0 host
dns.resolver.resolve              host 0 qname
dns.resolver.query                host 0 qname
psycopg2.connect                  dbserver 0 dsn
psycopg.connect                   dbserver 0 conninfo
asyncpg.connect                   dbserver 0 dsn
pymysql.connect                   dbserver 0 host
MySQLdb.connect                   dbserver 0 host
mysql.connector.connect           dbserver 0 host
pyodbc.connect                    dbserver 0 connectionstring
cx_Oracle.connect                 dbserver 0 dsn
pymssql.connect                   dbserver 0 server
snowflake.connector.connect       deny network.host
pymongo.MongoClient               dbserver 0 host
redis.Redis                       dbserver 0 host
redis.StrictRedis                 dbserver 0 host
redis.from_url                    dburl 0 url
sqlalchemy.create_engine          dburl 0 url
sqlalchemy.text                   sql 0 text
elasticsearch.Elasticsearch       dbserver 0 hosts
pika.ConnectionParameters         host 0 host
kafka.KafkaProducer               dbserver 9 bootstrap_servers
boto3.client                      deny network.host
boto3.resource                    deny network.host
boto3.Session                     deny network.host
google.cloud.storage.Client       deny network.host
azure.storage.blob.BlobServiceClient deny network.host
docker.from_env                   deny process.start
docker.DockerClient               deny process.start
kubernetes.config.load_kube_config deny network.host
telegram.Bot                      deny network.host
slack_sdk.WebClient               deny network.host
discord.Client                    deny network.host
openai.OpenAI                     review network.implicit
anthropic.Anthropic               review network.implicit
nmap.PortScanner                  deny network.raw
scapy.all.send                    deny network.raw
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

_METHODS = """
to_csv           save 0 path_or_buf
to_excel         save 0 excel_writer
to_parquet       save 0 path
to_feather       save 0 path
to_json          save 0 path_or_buf
to_html          save 0 buf
to_latex         save 0 buf
to_markdown      save 0 buf
to_pickle        save 0 path
to_hdf           save 0 path_or_buf
to_stata         save 0 path
to_xml           save 0 path_or_buffer
to_orc           save 0 path
to_file          save 0 filename
write_csv        save 0 file
write_parquet    save 0 file
write_json       save 0 file
write_html       save 0 file
write_image      save 0 file
tofile           save 0 fid
savefig          save 0 fname
save_model       save 0 fname
executescript    sql 0 sql_script
execute          sql 0 sql
executemany      sql 0 sql
read_sql_query   sql 0 sql
load_extension   deny function.outside
enable_load_extension deny function.outside
read_text        pathself read
read_bytes       pathself read
write_text       pathself write
write_bytes      pathself write
unlink           pathself delete
rmdir            pathself delete
rmtree           delete 0 path
iterdir          pathself read
chmod            pathself permission
extractall       writeopt 0 path
connect          connect 0 address
sendto           addresslast 1 address
submit           callback 0 fn
apply_async      thread 0 func
run_in_executor  callback 1 func
exec_command     deny process.start
run_cell         code 0 raw_cell
run_line_magic   review exec.dynamic
__subclasses__   subclasses
"""


def _parse(table: str) -> dict[str, tuple[Effect, ...]]:
    parsed: dict[str, tuple[Effect, ...]] = {}
    for line in table.strip().splitlines():
        name, _, effects = line.partition(" ")
        parsed[name] = tuple(_effect(part.split()) for part in effects.split(";"))
    return parsed


def _effect(words: list[str]) -> Effect:
    kind = words[0]
    if len(words) == 3:
        return Effect(kind, int(words[1]), words[2])
    return Effect(kind, -1 if kind == "pathself" else -2, words[1] if len(words) > 1 else "")


SINKS: Final = _parse(_SINKS)
"""Effects by resolved name."""

METHOD_SINKS: Final = _parse(_METHODS)
"""Effects by method name, where the receiver's class is not known."""
