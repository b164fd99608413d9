import { param, type Call, type Handlers } from '../call.ts';
import { anyText, checkParameters, required, text } from '../parameters.ts';
import { created, done, json, read, refuse, type Reply } from '../reply.ts';
import type { IpdsRule, World } from '../world.ts';
import { farmOf } from './find.ts';

type Rule = IpdsRule['rule'];

/** Intrusion prevention of the Enterprise Edition: lists, details, links and actions (docs/api.md §6). */
export const ipdsHandlers: Handlers = {
  'GET /ipds': ({ world }) =>
    read(
      'Protection rules',
      [...world.ipds.values()].map(({ name, rule, status, settings }) => ({
        name,
        rule,
        status,
        ...(rule === 'dos' ? { type: settings['type'] } : {}),
      })),
    ),

  'GET /ipds/package': () =>
    read('Package of rules', {
      status: 'Installed and updated',
      ruleset_date: '10-11-2026',
      mode: 'daily',
      frequency: 1,
      time: { hour: 3, minute: 0 },
      scheduled: 'Every day at 03:00',
    }),
  // Its answer says `desc` (docs/api.md §6).
  'POST /ipds/package/actions': (call) => {
    const model = {
      action: required({ values: ['upgrade', 'schedule'] }),
      mode: anyText,
      frequency: anyText,
      time: anyText,
    };
    checkParameters(call, 'Package of rules', model);
    return json(200, { desc: 'Package of rules', message: 'It was done.', success: 'true' });
  },

  'GET /ipds/waf/options': () => read('Vocabulary of rules', { operators: [], variables: [], transformations: [] }),
  'GET /ipds/waf/files': () => read('Files of rules', []),
  'GET /ipds/dos/rules': () =>
    read('Kinds of rules', {
      farm: ['limitsec', 'limitconns', 'bogustcpflags', 'limitrst'].map((rule) => ({
        rule,
        description: 'A limit for farms',
      })),
      system: [{ rule: 'sshbruteforce', description: 'A limit for the system' }],
    }),
  'GET /ipds/rbl/domains': () => read('Domains of lists', { user: [], preloaded: [{ id: 0, domain: 'list.example' }] }),

  ...handlersOf('waf', 'waf', '{set}', 404),
  ...handlersOf('blacklist', 'blacklists', '{name}', 404),
  ...handlersOf('dos', 'dos', '{name}', 404),
  ...handlersOf('rbl', 'rbl', '{name}', 400),

  'GET /ipds/blacklists/{name}/sources': (call) => {
    const sources = find(call, 'blacklist', 'name', 400).settings['sources'];
    return read('Sources of a list', sources ?? []);
  },
};

/** The calls that the four kinds share; unknown names have the status of the kind. */
function handlersOf(rule: Rule, path: string, placeholder: string, unknown: number): Handlers {
  const parameter = placeholder.slice(1, -1);
  const one = (call: Call) => find(call, rule, parameter, unknown);
  return {
    [`GET /ipds/${path}`]: ({ world }) => read('Protection rules of a kind', rulesOf(world, rule).map(listEntry)),

    [`GET /ipds/${path}/${placeholder}`]: (call) => {
      const found = one(call);
      const { name, status, farms, settings } = found;
      return read(
        'A protection rule',
        rule === 'waf'
          ? { configuration: { status, ...settings }, farms, rules: [] }
          : { name, status, farms, ...settings },
      );
    },

    [`POST /ipds/${path}`]: (call) => {
      const description = 'Make a protection rule';
      const { name: _name, ...input } = checkParameters(call, description, {
        name: required({ pattern: /^[\w-]{1,31}$/ }),
        copy_from: anyText,
        type: anyText,
        policy: anyText,
        url: anyText,
        rule: anyText,
      });
      const name = text(call.json ?? {}, 'name');
      if (call.world.ipds.has(name)) return refuse(400, description, `There is a rule ${name}.`);
      call.world.ipds.set(name, { name, rule, status: 'down', farms: [], settings: { ...input } });
      // WAF sets alone say 201.
      return rule === 'waf'
        ? created(description, 'The rule is made.', { name })
        : done(description, 'The rule is made.', { params: { name } });
    },

    [`PUT /ipds/${path}/${placeholder}`]: (call) => {
      const found = one(call);
      Object.assign(found.settings, call.json);
      return done('Change a protection rule', 'The rule is changed.', { params: found.settings });
    },

    [`DELETE /ipds/${path}/${placeholder}`]: (call) => {
      const { name, farms } = one(call);
      if (farms.length > 0) return refuse(400, 'Delete a protection rule', 'It is in use.');
      call.world.ipds.delete(name);
      return done('Delete a protection rule', 'The rule is gone.');
    },

    [`POST /ipds/${path}/${placeholder}/actions`]: (call) => {
      const found = one(call);
      const action = text(
        checkParameters(call, 'Act on a protection rule', {
          action: required({ values: ['start', 'stop', 'restart', 'update'] }),
        }),
        'action',
      );
      if (action === 'start' && rule === 'dos' && found.farms.length === 0)
        return refuse(400, 'Act on a protection rule', 'No farm uses it.');
      if (action !== 'update') found.status = action === 'stop' ? 'down' : 'up';
      return done('Act on a protection rule', 'It was done.', { params: { action, status: found.status } });
    },

    [`POST /farms/{farmname}/ipds/${path}`]: (call) => linkTo(call, rule),
    [`DELETE /farms/{farmname}/ipds/${path}/${placeholder}`]: (call) => {
      const farm = farmOf(call, 'Unlink a protection rule');
      const found = one(call);
      const index = found.farms.indexOf(farm.name);
      if (index < 0) return refuse(404, 'Unlink a protection rule', 'It is not linked.');
      found.farms.splice(index, 1);
      return done('Unlink a protection rule', 'The rule is unlinked.');
    },
  };
}

function linkTo(call: Call, rule: Rule): Reply {
  const description = 'Link a protection rule';
  const farm = farmOf(call, description);
  const name = text(checkParameters(call, description, { name: required(anyText) }), 'name');
  if (rule === 'waf' && farm.profile !== 'http') return refuse(400, description, 'HTTP farms only.');
  const found =
    rulesOf(call.world, rule).find((entry) => entry.name === name) ??
    refuse(404, description, `There is no rule ${name}.`);
  if (found.farms.includes(farm.name)) return refuse(400, description, 'It is linked already.');
  found.farms.push(farm.name);
  return done(description, 'The rule is linked.');
}

function rulesOf(world: World, rule: Rule): readonly IpdsRule[] {
  return [...world.ipds.values()].filter((entry) => entry.rule === rule);
}

function find(call: Call, rule: Rule, parameter: string, unknown: number): IpdsRule {
  const name = param(call, parameter);
  return (
    rulesOf(call.world, rule).find((entry) => entry.name === name) ??
    refuse(unknown, 'A protection rule', `There is no rule ${name}.`)
  );
}

function listEntry({ name, rule, status, farms, settings }: IpdsRule) {
  switch (rule) {
    case 'waf':
      return { name, status, farms };
    case 'blacklist':
      return {
        name,
        status,
        farms,
        policy: settings['policy'] ?? 'deny',
        type: settings['type'] ?? 'local',
        preload: settings['preload'] ?? 'false',
      };
    case 'dos':
      return { name, status, farms, rule: settings['rule'] ?? 'limitsec', type: settings['type'] ?? 'farm' };
    case 'rbl':
      return { name, status, farms, domains: settings['domains'] ?? [] };
  }
}
