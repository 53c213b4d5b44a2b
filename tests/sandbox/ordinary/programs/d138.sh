#!/usr/bin/env bash
ssh-keygen -q -t ed25519 -N "" -C "deploy@example.com" -f deploy_key
ls deploy_key*
awk '{ print $1, $3 }' deploy_key.pub
stat -c %a deploy_key
ssh-keygen -lf deploy_key.pub | awk '{ print $1, $NF }'
printf 'deploy.example.com %s\n' "$(cut -d' ' -f1,2 deploy_key.pub)" > known_hosts
ssh-keygen -F deploy.example.com -f known_hosts | grep -c ed25519
