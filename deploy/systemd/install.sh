#!/bin/sh
# Installs zlb-exporter as a service of systemd, updates it, or removes it; see deploy/README.md. Run it as root, from a
# clone or an unpacked package, as often as you like. It reads no key.
set -eu
umask 077

program=/opt/zlb-exporter
configuration=/etc/zlb-exporter
units=/etc/systemd/system
unit=$units/zlb-exporter.service
check=$units/zlb-exporter-check.service

usage() {
  cat <<'END'
Usage: deploy/systemd/install.sh [--dry-run] [--node=PATH]
       deploy/systemd/install.sh --uninstall [--dry-run]

  --node=PATH   the Node.js of the service, 24 or newer (default: that of the archive, or /usr/bin/node)
  --dry-run     print what would be done, and do nothing
  --uninstall   remove the program and the service; configuration, keys and audit stay

DESTDIR=FOLDER installs below a folder and leaves this machine's systemd alone, for packages.
END
}

say() { printf '%s\n' "$*"; }

# Says what was done.
done_is() {
  if [ "$dry_run" = yes ]; then say 'Nothing was done: this was a dry run.'; else say "$*"; fi
}

fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

# Runs a command; in a dry run only prints it.
run() {
  if [ "$dry_run" = yes ]; then say "would run: $*"; else "$@"; fi
}

# Writes standard input to a file with a mode.
write() {
  if [ "$dry_run" = yes ]; then
    say "would write: $2 (mode $1)"
    cat >/dev/null
  else
    cat >"$2.new"
    chmod "$1" "$2.new"
    mv "$2.new" "$2"
  fi
}

# Calls systemctl, unless the files are for another machine.
control() {
  [ -n "$destination" ] || run systemctl "$@"
}

check_machine() {
  # The archive has its own Node.js, which becomes a part of the program.
  if [ -z "$node" ] && [ -x "$source/bin/node" ]; then
    node=$program/bin/node real_node=$program/bin/node
    check_systemd
    return
  fi
  node=${node:-/usr/bin/node}
  case $node in
    /*) ;;
    *) fail "--node=$node has to begin with /, as systemd wants it" ;;
  esac
  [ -x "$node" ] || fail "$node is not there; install Node.js 24 or newer, or name it with --node=PATH"
  # The unit must allow the file that a link leads to.
  real_node=$(readlink -f "$node")
  case $real_node in
    /home/* | /root/*) fail "$node is in a home directory, which the service does not see; install Node.js for the whole machine" ;;
  esac
  version=$("$node" -p process.versions.node) || fail "$node does not run"
  [ "${version%%.*}" -ge 24 ] || fail "Node.js 24 or newer is needed, $node is $version; install a newer one, or name it with --node=PATH"
  check_systemd
}

check_systemd() {
  if [ -n "$destination" ] || [ "$dry_run" = yes ]; then return; fi
  command -v systemctl >/dev/null || fail 'there is no systemctl: this machine does not run systemd; deploy/README.md has other ways'
  systemd=$(systemctl --version | sed -n '1s/^systemd \([0-9]*\).*/\1/p')
  [ "${systemd:-0}" -ge 247 ] || fail "systemd 247 or newer is needed to hand over keys (LoadCredential=), this is ${systemd:-unknown}"
  [ "$(id -u)" -eq 0 ] || fail 'only root can install a service; run it with sudo, or see what it would do with --dry-run'
}

check_source() {
  [ -f "$source/dist/src/main.js" ] || fail "$source/dist is not there; run 'npm ci && npm run build' in a clone first"
  [ -d "$source/node_modules" ] ||
    fail "$source/node_modules is not there; run 'npm ci' in a clone, 'npm install --omit=dev' in an unpacked package first"
}

# Prints the folder of each package that runs. In a clone, those for building and testing are left out.
packages() {
  if [ ! -f "$source/node_modules/.package-lock.json" ]; then
    (cd "$source" && find node_modules -mindepth 1 -maxdepth 1 -type d ! -name '.*')
    return
  fi
  # shellcheck disable=SC2016
  "$node" -e '
    const { packages } = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
    for (const [folder, { dev }] of Object.entries(packages)) if (!dev) console.log(folder);
  ' "$source/node_modules/.package-lock.json"
}

# Copies to a new folder and then renames it, so that the program is never incomplete.
install_program() {
  new=$destination$program.new
  old=$destination$program.old
  folders=$(packages)
  if [ -x "$source/bin/node" ]; then bring='bin'; else bring=''; fi
  run rm -rf "$new" "$old"
  run install -d -m 755 "$new"
  for name in package.json README.md LICENSE CHANGELOG.md dist $bring; do run cp -R "$source/$name" "$new/"; done
  for folder in $folders; do
    # One inside another is already copied; one for another platform is missing.
    if [ ! -d "$source/$folder" ] || [ -d "$new/$folder" ]; then continue; fi
    run mkdir -p "$new/${folder%/*}"
    run cp -R "$source/$folder" "$new/$folder"
  done
  run chmod -R u=rwX,go=rX "$new"
  if [ -e "$destination$program" ]; then run mv "$destination$program" "$old"; fi
  run mv "$new" "$destination$program"
  run rm -rf "$old"
}

install_configuration() {
  run install -d -m 755 "$destination$configuration"
  run install -d -m 700 "$destination$configuration/keys"
  if [ ! -e "$destination$configuration/environment" ]; then
    run install -m 600 "$here/environment.example" "$destination$configuration/environment"
  fi
  # systemd reads them as root.
  for file in "$destination$configuration"/keys/*; do
    if [ -f "$file" ]; then run chmod 600 "$file"; fi
  done
}

install_unit() {
  run install -d -m 755 "$destination$units" "$destination$unit.d" "$destination$check.d"
  case $real_node in
    /usr/* | /lib/*) folders='' ;;
    *) folders=" ${real_node%/*}" ;;
  esac
  for file in "$unit" "$check"; do
    sed -e "s|^\(Exec[A-Za-z]*\)=/usr/bin/node |\1=$node |" -e "s|^ExecPaths=.*|&$folders|" "$here/${file##*/}" |
      write 644 "$destination$file"
  done
  keys | write 644 "$destination$unit.d/keys.conf"
  # The check is the service with another command: it reads the same unit, and what is added to it.
  run ln -sfn ../zlb-exporter.service "$destination$check.d/0-service.conf"
  run ln -sfn ../zlb-exporter-check.service "$destination$check.d/zz-check.conf"
  # systemd 257 follows no relative link to a folder.
  run ln -sfn "$unit.d" "$destination$units/zlb-exporter-.service.d"
}

# Prints a line for each file of keys/: systemd gives it to the service under its name.
keys() {
  say "# Written by install.sh from the names in $configuration/keys; run it again after a change there."
  say '[Service]'
  for file in "$destination$configuration"/keys/*; do
    [ -f "$file" ] || continue
    name=${file##*/}
    say "LoadCredential=$name:$configuration/keys/$name"
  done
}

# Checks before the installation what would keep the service from starting.
check_configuration() {
  file=$destination$configuration/zlb.yml
  if [ -e "$file" ] && [ -z "$(find "$file" -perm -004)" ]; then
    fail "$file cannot be read by the service, which has a user of its own; it holds no key, so: chmod 644 $file"
  fi
  for file in "$destination$configuration"/keys/*; do
    case ${file##*/} in
      '*') ;;
      *[!A-Za-z0-9._-]*) fail "$file: a key's file is named with letters, digits and . _ - alone" ;;
    esac
  done
}

start() {
  if [ -n "$destination" ]; then
    done_is "It is installed below $destination."
    return
  fi
  control daemon-reload
  if [ -e "$destination$configuration/zlb.yml" ]; then
    control enable zlb-exporter.service
    control restart zlb-exporter.service
    done_is 'It is started. See how it is: systemctl status zlb-exporter; curl -s localhost:9444/-/ready'
  else
    done_is "It is installed and not started. Write $configuration/zlb.yml and the keys into $configuration/keys, or let this do it: $node $program/dist/src/main.js init HOST --config.file=$configuration/zlb.yml. Then run install.sh again."
  fi
}

uninstall() {
  check_systemd
  if [ -e "$destination$unit" ]; then control disable --now zlb-exporter.service; fi
  run rm -rf "$destination$unit" "$destination$unit.d/keys.conf" "$destination$program" "$destination$check" \
    "$destination$check.d/0-service.conf" "$destination$check.d/zz-check.conf" "$destination$units/zlb-exporter-.service.d"
  for folder in "$destination$unit.d" "$destination$check.d"; do
    if [ -d "$folder" ] && [ "$dry_run" = no ]; then rmdir "$folder" 2>/dev/null || true; fi
  done
  control daemon-reload
  done_is "Removed. What is yours is still there: $configuration, and /var/lib/private/zlb-exporter with the audit."
}

dry_run=no
task=install
node=
destination=${DESTDIR:-}
for argument; do
  case $argument in
    --dry-run) dry_run=yes ;;
    --uninstall) task=uninstall ;;
    --node=*) node=${argument#--node=} ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && fail "$argument is not known" ;;
  esac
done

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
source=$(dirname -- "$(dirname -- "$here")")

if [ "$task" = uninstall ]; then
  uninstall
  exit 0
fi
check_machine
check_source
check_configuration
install_program
install_configuration
install_unit
start
