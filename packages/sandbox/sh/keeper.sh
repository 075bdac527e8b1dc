#!/bin/sh
# Outlives the process that started it by a moment and ends what that process left running.
#
# Usage:  keeper.sh SIGNAL TENTHS [FOLDER]
#   SIGNAL  asks the kept process group to end (QUIT, TERM …)
#   TENTHS  how many tenths of a second its leader may take before SIGKILL
#   FOLDER  removed afterwards
# Stdin:  one word and maybe a process id a line
#   watch PID   PID leads the process group that is kept from now on
#   forget      nothing is kept at the moment
#   release     everything was tidied up in the ordinary way: leave without touching anything
# The end of stdin means that the owner is gone, whatever it died of: a pipe closes even after SIGKILL.

signal="$1"
tenths="$2"
folder="${3:-}"
kept=""

# Ctrl-C and a closing terminal reach whole process groups; the keeper has work to do exactly then.
trap '' INT TERM HUP

# Whether the group's leader still runs. One that ended but was not collected by its new parent yet counts as gone.
leader_runs() {
  kill -s 0 -- "-$kept" 2>/dev/null || return 1
  if [ -r "/proc/$kept/stat" ]; then
    case "$(sed 's/^.*) //' "/proc/$kept/stat" 2>/dev/null)" in
      Z* | X* | '') return 1 ;;
    esac
  fi
  return 0
}

while IFS=' ' read -r word pid; do
  case "$word" in
    watch) kept="$pid" ;;
    forget) kept="" ;;
    release) exit 0 ;;
  esac
done

if [ -n "$kept" ]; then
  # A stopped process answers no signal but SIGKILL until it is continued.
  kill -s CONT -- "-$kept" 2>/dev/null
  kill -s "$signal" -- "-$kept" 2>/dev/null
  while [ "$tenths" -gt 0 ] && leader_runs; do
    sleep 0.1
    tenths=$((tenths - 1))
  done
  kill -s KILL -- "-$kept" 2>/dev/null
fi

if [ -n "$folder" ]; then
  rm -rf -- "$folder"
fi
exit 0
