"""Programs and what they do with their operands.

`OPERANDS`: a role for what is left after the options. read, write, delete: each operand; copy, move, link:
the last is the destination; permission, script (the first is a program text, the rest are read): the first
is no path; none: no operand is a path. `VALUED`: short options that take a value, per program.
"""

from __future__ import annotations

from typing import Final

from spanproof.sandbox.words import words


def _by_word(groups: dict[str, str]) -> dict[str, str]:
    return {word: value for value, words in groups.items() for word in words.split()}


OPERANDS: Final = _by_word(
    {
        "read": "cat tac nl head tail less more most wc sort uniq cut paste join comm diff diff3 cmp"
        " od xxd hexdump"
        " hd strings file stat md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum"
        " sum base64 base32"
        " basenc column fold fmt pr expand unexpand rev shuf ls dir vdir du tree readlink look tsort"
        " ptx split csplit"
        " zcat gzcat bzcat xzcat zless iconv enca bat namei lsattr getfacl cd pushd vi vim nano view"
        " pg sdiff vimdiff"
        " exiftool identify pdftotext csvlook csvcut csvstat xsv mlr duckdb in2csv xmllint tidy uuencode"
        " gnuplot locate updatedb",
        "script": "grep egrep fgrep zgrep rg ag ack awk gawk mawk nawk sed jq yq perl-text",
        "write": "touch mkdir tee truncate mkfifo mktemp-dir install-dir sponge fallocate mknod",
        "delete": "rm unlink rmdir shred srm",
        "copy": "cp install",
        "move": "mv rename",
        "link": "ln link",
        "permission": "chmod chattr setfacl",
        "archive": "gzip gunzip bzip2 bunzip2 xz unxz zip unzip zstd 7z tar cpio ar",
        "none": "echo printf true false : test [ [[ expr seq sleep date cal bc dc factor basename"
        " dirname realpath yes"
        " tr pwd uname whoami id groups logname tty hostname arch nproc getconf locale read"
        " readarray mapfile shift"
        " local declare typeset export unset set shopt let return exit break continue wait jobs fg"
        " bg type which"
        " whereis hash help alias unalias getopts times umask ulimit trap complete compgen bind dirs"
        " popd history-none"
        " mktemp tput clear reset stty cowsay figlet numfmt printenv-none uuidgen cksum-none lscpu"
        " free uptime df"
        " caller enable fc disown suspend builtin-none git-none logger nl-none exec-none test-none"
        " column-none",
    }
)

VALUED: Final = {
    "head": "nc", "tail": "ncs", "cut": "dfbc", "sort": "kStTo", "uniq": "fsw", "grep": "eABCmdDf",
    "egrep": "eABCmf",
    "fgrep": "eABCmf", "zgrep": "eABCmf", "rg": "eABCmtgTf", "awk": "Fvf", "gawk": "Fvf", "mawk": "Fvf",
    "sed": "elf",
    "nl": "bdfhilnpsvw", "paste": "d", "join": "12ajotv", "split": "abClnt", "fold": "w", "fmt": "w",
    "base64": "w",
    "xxd": "clsog", "od": "AjNtwS", "hexdump": "nsef", "tree": "LPIo", "du": "dt", "ls": "IwT", "stat": "cf",
    "column": "stoN", "jq": "fL", "yq": "fL", "shuf": "ineo", "pr": "lowh", "date": "dfr", "touch": "dtr",
    "mkdir": "m",
    "truncate": "srs", "tee": "", "cp": "tS", "mv": "tS", "ln": "tS", "install": "mogtS", "wc": "",
    "strings": "ne",
    "iconv": "fto", "expand": "t", "md5sum": "", "cmp": "nil", "tac": "s", "numfmt": "d", "file": "mf",
    "less": "",
    "shred": "ns", "duckdb": "cs", "sqlite3": "", "fallocate": "lo", "comm": "",
}  # fmt: skip

DENIED: Final = _by_word(
    {
        "privilege.change": "su doas pkexec runuser setpriv capsh newgrp sg visudo chroot nsenter unshare",
        "system.change": "useradd userdel usermod adduser deluser groupadd groupdel groupmod"
        " addgroup passwd chpasswd"
        " chsh chfn gpasswd systemctl service initctl rc-update update-rc.d chkconfig crontab at"
        " batch mount umount"
        " swapon swapoff losetup mkfs mke2fs mkswap fdisk parted sfdisk cfdisk gdisk wipefs lvm"
        " vgcreate pvcreate"
        " insmod rmmod modprobe sysctl shutdown reboot halt poweroff telinit init kexec hwclock timedatectl"
        " hostnamectl localectl iptables ip6tables nft ufw firewall-cmd ifconfig route ip brctl tc setenforce"
        " auditctl apt apt-get aptitude dpkg yum dnf rpm zypper pacman apk snap flatpak dpkg-reconfigure"
        " update-alternatives ldconfig debugfs tune2fs e2fsck fsck hdparm blkdiscard cryptsetup grub-install"
        " update-grub efibootmgr loadkeys setterm logrotate",
        "process.signal": "killall pkill skill snice xkill",
        "process.inspect": "ps top htop atop btop pstree pgrep pidof lsof fuser netstat ss vmstat"
        " iostat mpstat sar"
        " pidstat iotop strace ltrace gdb dmesg journalctl who w last lastlog lastb finger lsmod"
        " lspci lsusb lsblk"
        " blkid dmidecode perf tcpdump getent ausearch smem nvidia-smi renice taskset chrt ionice-p",
        "process.start": "docker podman nerdctl kubectl crictl ctr lxc runc screen tmux vagrant"
        " virsh qemu-system-x86_64",
        "network.raw": "nmap masscan zmap hping3 arping tshark ettercap arpspoof dsniff hydra medusa"
        " nikto sqlmap"
        " aircrack-ng responder msfconsole msfvenom bettercap",
        "exec.native": "gcc-none ld.so",
        "environment.read": "printenv",
    }
)

INSTALLERS: Final = {
    "pip": "install download", "pip3": "install download", "conda": "install create", "mamba": "install",
    "uv": "pip add sync tool", "poetry": "install add", "npm": "install i ci add", "yarn": "install add",
    "pnpm": "install add i", "gem": "install", "cargo": "install", "go": "get install", "brew": "install",
    "easy_install": "", "cpan": "", "npx": "", "uvx": "", "pipx": "install run", "bun": "install add",
    "composer": "install require", "R": "CMD",
}  # fmt: skip
"""Package managers and the sub-commands that fetch."""

NETWORK: Final = words(
    "nc ncat netcat telnet ssh scp sftp rsync ftp lftp tftp ping ping6 dig nslookup host whois"
    " traceroute tracepath mtr socat openssl mail mailx sendmail mutt curl wget aria2c axel http https"
    " xh websocat rsh rlogin rcp ssh-copy-id autossh mosh sshpass smbclient mysql psql mongo mongosh"
    " redis-cli ldapsearch aws gcloud az gsutil s3cmd rclone gh finger-host drill kdig grpcurl ab wrk"
    " siege hping lynx links w3m elinks"
)

SHELLS: Final = words("sh bash zsh dash ksh ash fish rbash busybox-sh")
INTERPRETERS: Final = words(
    "python python2 python3 pypy pypy3 ipython perl ruby node nodejs deno bun php lua luajit Rscript"
    " R tclsh expect osascript pwsh powershell java scala groovy julia ghci irb"
)
WRAPPERS: Final = words(
    "sudo env nohup time timeout nice ionice stdbuf command builtin exec setsid xargs parallel watch"
    " busybox unbuffer chronic eatmydata script strace-wrap catchsegv doas coproc flock"
)
"""Programs that run the program their operands name."""

WRAPPER_VALUED: Final = {
    "sudo": "ugphCrt", "env": "uCS", "timeout": "ks", "nice": "n", "ionice": "cnp", "stdbuf": "ioe",
    "xargs": "ILnPdEsa", "parallel": "jIN", "watch": "nd", "time": "fo", "exec": "a", "flock": "wE",
    "script": "cIOT",
}  # fmt: skip
WRAPPER_OPERANDS: Final = {"timeout": 1, "flock": 1}
"""Operands of a wrapper that stand before the program it runs."""

HARMLESS_UNKNOWN: Final = words(
    "make cmake gcc g++ cc clang rustc cargo go javac mvn gradle pytest tox ruff black mypy flake8"
    " pylint isort git jupyter streamlit ffmpeg convert pandoc pdflatex xelatex latexmk dot neato"
    " bcftools samtools bedtools csvkit gdal_translate ogr2ogr dvc dbt spanproof"
)
"""Programs that work on files of the work directory; their operands are judged as paths to read."""
