#!/usr/bin/env bash
# Health check of services, from a status file.
printf '%s\n' "web up 12" "db up 40" "mail down 0" > status
fail=0
while read -r name state ms; do
  if [[ $state != up ]]; then echo "CRITICAL $name"; fail=2
  elif ((ms > 30)); then echo "WARNING $name ${ms}ms"; ((fail < 1)) && fail=1
  else echo "OK $name"; fi
done < status
echo "overall $fail"
