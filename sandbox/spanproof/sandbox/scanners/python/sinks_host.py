"""Sinks of files, processes and the machine itself; `sinks` says how to read a line."""

from __future__ import annotations

from typing import Final

TABLE: Final = """
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
"""
