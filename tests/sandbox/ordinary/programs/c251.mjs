import cluster from "cluster"; import dgram from "dgram"; import tls from "tls"; import http2 from "http2"; import inspector from "inspector";
console.log(cluster.isPrimary, typeof dgram.createSocket, tls.DEFAULT_MAX_VERSION, typeof http2.connect, inspector.url()); const s = dgram.createSocket("udp4"); s.close(); console.log(tls.rootCertificates.length > 50);
