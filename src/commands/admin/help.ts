import { gatewayFlags, gatewayUrl, isDuration, linesOf } from '../flag.ts';

/** The flags of admin; each of its words takes some of them. */
export const adminFlags = {
  'dry-run': { about: 'show what would be sent and which guards object; change nothing' },
  reason: { example: 'TICKET-42', value: 'TEXT', about: 'why, for the audit; recipes, --ask, freeze and deny need it' },
  confirm: { example: 'NAME', value: 'NAME', about: 'for what cannot be undone: the name of the object' },
  force: { about: 'override the guards; --break-glass sends without approval (need --reason)' },
  'break-glass': {},
  'backup-first': { about: 'recipes: back up the configuration first' },
  yes: { about: 'agree in advance; to approve also --digest=HEX, of the plan you looked at' },
  digest: { example: 'HEX' },
  wait: {
    example: '5m',
    label: '--wait=5m, --detach',
    about: 'recipes: wait that long at most; go on without this command',
    refuse: isDuration,
  },
  detach: {},
  body: {
    example: '@FILE',
    value: '@FILE',
    about: 'send a file, or standard input (--body=-); for what is secret too',
  },
  output: { example: 'backup.tar.gz', value: 'FILE', values: 'files', about: 'save the answer' },
  json: { about: 'the exact answer, for scripts' },
  limit: {
    example: '20',
    label: '--limit, --principal, --appliance, --operation, --event',
    about: '   filters of admin audit',
  },
  principal: { example: 'alice' },
  appliance: { example: 'lb-1' },
  operation: { example: 'actOnFarm' },
  event: { example: 'denied' },
  state: { example: 'open' },
  ask: {},
  watch: {},
  'admin.url': {
    example: gatewayUrl,
    label: '--admin.url=URL, --admin.token-file=PATH, --admin.ca-file, --admin.cert-file, --admin.key-file',
    about: '',
  },
  ...gatewayFlags,
} as const;

export const adminHelp = `Usage: zlb-exporter admin APPLIANCE OPERATION [name=value …]  one call; name:=JSON for lists
       zlb-exporter admin APPLIANCE RECIPE name=value …       several calls, with a plan
       zlb-exporter admin WORD                                ask the gateway

Operations   a key (actOnFarm), or a path (PUT /farms/shop/actions, /farms/shop); values fill
             the path, then the body
  admin operations farm backend             find operations, with their routes and risks
  admin parameters lb-1 createFarm          what an operation takes, as the appliance says
  admin lb-1 listFarms
  admin lb-1 actOnFarm farmname=shop action=stop --reason=TICKET-42 --dry-run
  admin lb-1 downloadBackup name=weekly --output=weekly.tar.gz
Recipes
  drain-backend farm=F backend=IP:PORT [service=S]    out of service; wait until idle (--wait=5m)
  restore-backend farm=F backend=IP:PORT [service=S]  and back
  restart-farm farm=F                                 with a look before and after
  replace-certificate farm=F file=PATH [old=N] [incomplete_chain=true]
  install-activation file=PATH
  backup [name=N]
  send-logs to=IP:PORT                                requests are counted; to=off ends it
Words   appliances, whoami, operations, parameters, audit, frozen, freeze --reason=TEXT, unfreeze
Changes, for a second person to approve
  admin lb-1 restart-farm farm=shop --ask --reason=TICKET-42    ask; nothing is sent
  admin changes [list --state=open,denied]    and changes show ID, cancel ID
  admin changes approve ID [--watch]          and changes deny ID --reason=TEXT

${linesOf(adminFlags, 19)}
Every change asks before it is sent; without a terminal it needs --yes.
Environment: ZLB_ADMIN_URL (or http://127.0.0.1:9445), ZLB_ADMIN_TOKEN_FILE or ZLB_ADMIN_TOKEN.
Exit codes: 0 done, 1 refused or failed, 2 a mistake or nobody agreed, 3 it waits for approval.`;
