#!/bin/sh
# The main job as a story. Every line below a `$` is the output of the real command.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset PASSDOWN_PROJECT PASSDOWN_JOURNAL PASSDOWN_ACTOR PASSDOWN_SESSION PASSDOWN_LEASE

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
# Shown as one would type it: what the shell would take apart stands in quotes.
run() {
  typed=
  for word; do
    case $word in *[!A-Za-z0-9_./:=-]*) word="'$word'" ;; esac
    typed="$typed $word"
  done
  printf '\033[2m$%s\033[0m\n' "$typed"
  "$@" 2>&1 || printf '(exit %s)\n' "$?"
}

say "An orchestrator opens a project."
run passdown init shop --title "Web Shop" --iac-tool Bicep --branch main

say "Two agents record their work."
run passdown step start 1 --actor 02-Requirements
run passdown decide --key region --value swedencentral --rationale "data stays in the EU" --actor 02-Requirements
run passdown step complete 1 --artifact agent-output/shop/01-requirements.md --actor 02-Requirements
run passdown session start night-shift --actor 03-Architect
run passdown step start 2 --actor 03-Architect --session night-shift
run passdown finding open "Key Vault allows public access" --actor 03-Architect --session night-shift

say "Somebody else tries to finish what is not begun. The answer says what would be allowed."
run passdown step complete 4 --actor 05-Planner

say "The architect dies in the middle of its work: kill -9, no goodbye."
( i=1; while :; do
    passdown step checkpoint 2 "phase_$i" --actor 03-Architect --session night-shift --json >>acknowledged 2>/dev/null
    i=$((i + 1))
  done ) &
agent=$!
while [ ! -s acknowledged ]; do sleep 0.1; done
sleep 1
kill -9 $agent
wait $agent 2>/dev/null || true
sleep 0.5
acknowledged=$(wc -l <acknowledged)
recorded=$(passdown log -n 0 --json | grep -c step.checkpointed)
echo "acknowledged to the agent: $acknowledged    in the journal: $recorded"
run passdown session crash night-shift --reason "agent unresponsive" --actor supervisor

say "Worse: its state file is cut to nothing, and the backup with it."
printf '\033[2m$ : > 00-session-state.json; rm 00-session-state.json.bak\033[0m\n'
cp agent-output/shop/00-session-state.json before.json
: > agent-output/shop/00-session-state.json
rm -f agent-output/shop/00-session-state.json.bak
sleep 1.1
run passdown verify

say "The journal brings it back, byte for byte."
run passdown recover
run cmp agent-output/shop/00-session-state.json before.json && echo "identical"
run passdown verify

say "An auditor replays: the project as it was at version 4."
run passdown show --at 4

say "An old agent edits the state file itself. The edit is shown, and recorded."
run sed -i.tmp 's/"open_findings": \[/"open_findings": [ "No budget alert",/' agent-output/shop/00-session-state.json
run passdown drift
run passdown drift --adopt --actor old-agent

say "A new agent asks where to go on."
run passdown show
run passdown resume --agent 03-Architect

say "Two peers share a workspace. One dies; the other goes on with what one command says."
export PASSDOWN_PROJECT=tools
run passdown init tools --maintainer ada --agent coder --agent reviewer
run passdown session start night --actor coder
run passdown task add "Write the parser" --actor ada
run passdown task start T001 --actor coder
run passdown next "Handle floats" --agent coder --actor coder
run passdown session crash night --reason "no answer" --actor ada
run passdown task reset T001 --actor ada
run passdown resume --agent reviewer --from coder --budget 500

say "Why is it so, and is a file what the journal says?"
run passdown why steps.2.status -p shop
run passdown diff 3 8 -p shop
run passdown verify agent-output/shop/00-handoff.md -p shop
