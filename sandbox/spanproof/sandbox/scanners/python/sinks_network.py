"""Sinks of the network, of databases and services; `sinks` says how to read a line."""

from __future__ import annotations

from typing import Final

TABLE: Final = """
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
"""
