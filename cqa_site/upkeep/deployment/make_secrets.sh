#!/bin/sh
# Makes the secrets of an installation, each in a file of its own; what is there stays.
#     sh cqa_site/upkeep/deployment/make_secrets.sh [FOLDER]
#
# The folder is closed to everybody else on this machine. The files inside are open, for in
# containers other users read them: each is shown to the processes that need it, without the folder.
set -eu
folder=${1:-secrets}
umask 077
mkdir -p "$folder"

make() {
    [ -s "$folder/$1" ] && return
    openssl rand -base64 "$2" | tr -d '\n' | tr '+/' '-_' >"$folder/$1"
    chmod 444 "$folder/$1"
    echo "Made $folder/$1"
}

make secret_key 64
make secrets_keys 32
make database_password 24
make backup_passphrase 24
