import os from "os";
console.log(os.platform(), os.cpus().length > 0, os.totalmem() > 0, os.freemem() > 0, os.hostname().length > 0, os.uptime() > 0, os.loadavg().length, os.EOL === "\n", os.homedir().length > 0, os.userInfo().username.length > 0, os.release().length > 0, os.availableParallelism() > 0);
