#!/usr/bin/env bash
crontab_line() {
  read -r minute hour dom month dow command <<< "$1"
  echo "at $hour:$minute, days $dom, months $month, weekdays $dow: $command"
}
set -f
crontab_line "30 02 * * 1-5 /usr/local/bin/backup --full"
crontab_line "0 12 1 * * echo monthly"
