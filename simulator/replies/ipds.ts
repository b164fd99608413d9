import { type Call, created, done, type Handlers, json, param, read, refuse, type Reply } from '../call.ts';
import { anyText, checkParameters, each, onlyText, required, text } from '../parameters.ts';
import type { IpdsRule, World } from '../world.ts';
import { farmOf } from './find.ts';

interface RuleKind {
  readonly rule: IpdsRule['rule'];
  /** The word in the paths. */
  readonly path: string;
  /** The parameter of the paths that names a rule. */
  readonly parameter: string;
  /** The status of a call on a rule that does not exist. */
  readonly unknown: number;
}

const waf: RuleKind = { rule: 'waf', path: 'waf', parameter: 'set', unknown: 404 };
const blacklists: RuleKind = { rule: 'blacklist', path: 'blacklists', parameter: 'name', unknown: 404 };

/**
 * Intrusion prevention of the Enterprise Edition: lists, details, links and actions (docs/api.md
 * §6).
 */
export const ipdsHandlers: Handlers = {
  'GET /ipds': ({ world }) =>
    read(
      [...world.ipds.values()].map(({ name, rule, status, settings }) => ({
        name,
        rule,
        status,
        type: rule === 'dos' ? settings['type'] : undefined,
      })),
    ),

  'GET /ipds/package': () =>
    read({
      status: 'Installed and updated',
      ruleset_date: '10-11-2026',
      mode: 'daily',
      frequency: 1,
      time: { hour: 3, minute: 0 },
      scheduled: 'Every day at 03:00',
    }),
  // Its answer has `desc` (docs/api.md §6).
  'POST /ipds/package/actions': (call) => {
    const action = required({ values: ['upgrade', 'schedule'] });
    checkParameters(call, { action, ...each(['mode', 'frequency', 'time'], anyText) });
    return json(200, { description: undefined, desc: 'Package of rules', message: 'It was done.', success: 'true' });
  },

  'GET /ipds/waf/options': () => read({ operators: [], variables: [], transformations: [] }),
  'GET /ipds/waf/files': () => read([]),
  'GET /ipds/dos/rules': () =>
    read({
      farm: ['limitsec', 'limitconns', 'bogustcpflags', 'limitrst'].map((rule) => ({
        rule,
        description: 'A limit for farms',
      })),
      system: [{ rule: 'sshbruteforce', description: 'A limit for the system' }],
    }),
  'GET /ipds/rbl/domains': () => read({ user: [], preloaded: [{ id: 0, domain: 'list.example' }] }),

  ...handlersOf(waf),
  ...handlersOf(blacklists),
  ...handlersOf({ rule: 'dos', path: 'dos', parameter: 'name', unknown: 404 }),
  ...handlersOf({ rule: 'rbl', path: 'rbl', parameter: 'name', unknown: 400 }),

  'GET /ipds/blacklists/{name}/sources': (call) => {
    const { settings } = ruleOf(call, { ...blacklists, unknown: 400 });
    return read(settings['sources'] ?? []);
  },
};

/** Returns the calls that all four kinds of rules have. */
function handlersOf(kind: RuleKind): Handlers {
  const list = `/ipds/${kind.path}`;
  const one = `${list}/{${kind.parameter}}`;
  const ofFarm = `/farms/{farmname}/ipds/${kind.path}`;
  return {
    [`GET ${list}`]: ({ world }) => read(rulesOf(world, kind).map(listEntry)),
    [`POST ${list}`]: (call) => create(call, kind),
    [`GET ${one}`]: (call) => show(ruleOf(call, kind)),
    [`PUT ${one}`]: (call) => change(call, ruleOf(call, kind)),
    [`DELETE ${one}`]: (call) => remove(call, ruleOf(call, kind)),
    [`POST ${one}/actions`]: (call) => act(call, ruleOf(call, kind)),
    [`POST ${ofFarm}`]: (call) => link(call, kind),
    [`DELETE ${ofFarm}/{${kind.parameter}}`]: (call) => unlink(call, kind),
  };
}

function show({ name, rule, status, farms, settings }: IpdsRule): Reply {
  return read(
    rule === 'waf'
      ? { configuration: { status, ...settings }, farms, rules: [] }
      : { name, status, farms, ...settings },
  );
}

function create(call: Call, { rule }: RuleKind): Reply {
  const { name: _name, ...input } = checkParameters(call, {
    name: required({ pattern: /^[\w-]{1,31}$/ }),
    ...each(['copy_from', 'type', 'policy', 'url', 'rule'], anyText),
  });
  const name = text(call.json ?? {}, 'name');
  if (call.world.ipds.has(name)) return refuse(400, `There is a rule ${name}.`);
  call.world.ipds.set(name, { name, rule, status: 'down', farms: [], settings: { ...input } });
  // Only WAF sets answer 201.
  return rule === 'waf' ? created('The rule is made.', { name }) : done('The rule is made.', { params: { name } });
}

function change(call: Call, { settings }: IpdsRule): Reply {
  Object.assign(settings, call.json);
  return done('The rule is changed.', { params: settings });
}

function remove(call: Call, { name, farms }: IpdsRule): Reply {
  if (farms.length > 0) return refuse(400, 'It is in use.');
  call.world.ipds.delete(name);
  return done('The rule is gone.');
}

function act(call: Call, found: IpdsRule): Reply {
  const action = onlyText(call, 'action', { values: ['start', 'stop', 'restart', 'update'] });
  if (action === 'start' && found.rule === 'dos' && found.farms.length === 0) return refuse(400, 'No farm uses it.');
  if (action !== 'update') found.status = action === 'stop' ? 'down' : 'up';
  return done('It was done.', { params: { action, status: found.status } });
}

function link(call: Call, kind: RuleKind): Reply {
  const farm = farmOf(call);
  const name = onlyText(call, 'name', anyText);
  if (kind.rule === 'waf' && farm.profile !== 'http') return refuse(400, 'HTTP farms only.');
  const found =
    rulesOf(call.world, kind).find((entry) => entry.name === name) ?? refuse(404, `There is no rule ${name}.`);
  if (found.farms.includes(farm.name)) return refuse(400, 'It is linked already.');
  found.farms.push(farm.name);
  return done('The rule is linked.');
}

function unlink(call: Call, kind: RuleKind): Reply {
  const farm = farmOf(call);
  const found = ruleOf(call, kind);
  const index = found.farms.indexOf(farm.name);
  if (index < 0) return refuse(404, 'It is not linked.');
  found.farms.splice(index, 1);
  return done('The rule is unlinked.');
}

function rulesOf(world: World, { rule }: RuleKind): readonly IpdsRule[] {
  return [...world.ipds.values()].filter((entry) => entry.rule === rule);
}

/** Returns the rule that the path names. */
function ruleOf(call: Call, kind: RuleKind): IpdsRule {
  const name = param(call, kind.parameter);
  return (
    rulesOf(call.world, kind).find((entry) => entry.name === name) ?? refuse(kind.unknown, `There is no rule ${name}.`)
  );
}

/** The settings in lists, and their values where a rule has none. */
const listed: Readonly<Record<IpdsRule['rule'], Readonly<Record<string, unknown>>>> = {
  waf: {},
  blacklist: { policy: 'deny', type: 'local', preload: 'false' },
  dos: { rule: 'limitsec', type: 'farm' },
  rbl: { domains: [] },
};

function listEntry({ name, rule, status, farms, settings }: IpdsRule) {
  const shown = Object.entries(listed[rule]).map(([field, otherwise]) => [field, settings[field] ?? otherwise]);
  return { name, status, farms, ...Object.fromEntries(shown) };
}
