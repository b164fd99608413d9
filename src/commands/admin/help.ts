/** The help text of the admin commands. */
export const adminHelp = `Usage: zlb-exporter admin APPLIANCE OPERATION [name=value …]  one call; name:=JSON for lists
       zlb-exporter admin APPLIANCE RECIPE name=value …       several calls, with a plan
       zlb-exporter admin WORD                                ask the gateway

Operations   a key (actOnFarm), or a path (PUT /farms/shop/actions, /farms/shop); values fill
             the path, then the body; farm= and farmname= mean the same everywhere
  admin operations farm backend             find operations, with their routes and risks
  admin parameters lb-1 createFarm          what an operation takes, as the appliance says
  admin lb-1 listFarms
  admin lb-1 actOnFarm farmname=shop action=stop --reason=TICKET-42 --dry-run
  admin lb-1 downloadBackup name=weekly --output=weekly.tar.gz
Recipes
  drain-backend farm=F backend=IP:PORT [service=S]    out of service; wait until idle (--wait=5m)
  restore-backend farm=F backend=IP:PORT [service=S]  and back
  restart-farm farm=F                                 with a look before and after
  replace-certificate farm=F file=PATH [name=N] [old=N]
  install-activation file=PATH
  backup [name=N]
Words   appliances, whoami, operations, parameters, audit, frozen, freeze --reason=TEXT, unfreeze

  --dry-run            show what would be sent and what stands against it; change nothing
  --reason=TEXT        why, for the audit; recipes need it
  --confirm=NAME       for what cannot be undone: the name of the object
  --force              override the guards (needs --reason)
  --backup-first       back up the configuration before a change
  --yes                agree in advance
  --wait=5m            recipes: wait that long at most
  --body=@FILE         send a file, or standard input (--body=-); for what is secret too
  --output=FILE        save the answer
  --json               the exact answer, for scripts
  --limit, --principal, --appliance, --operation, --event     filters of admin audit
  --admin.url=URL, --admin.token-file=PATH, --admin.ca-file, --admin.cert-file, --admin.key-file
On a terminal every change, a single operation or a recipe, asks before it is sent; without a
terminal it needs --yes. Reads and dry runs never ask.
Environment: ZLB_ADMIN_URL (or http://127.0.0.1:9445), ZLB_ADMIN_TOKEN_FILE or ZLB_ADMIN_TOKEN.
Exit codes: 0 done, 1 refused or failed, 2 a mistake on the command line, or nobody agreed.`;
