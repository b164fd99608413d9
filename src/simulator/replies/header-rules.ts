import { param, type Call, type Handlers } from '../call.ts';
import { checkParameters, natural, number, required, text, anyText } from '../parameters.ts';
import { done, refuse, type Reply } from '../reply.ts';
import type { HeaderRule, HeaderRuleKind } from '../world-farms.ts';
import { pending } from './pending.ts';
import { httpFarmOf } from './find.ts';

const fields: Readonly<Record<HeaderRuleKind, readonly string[]>> = {
  addheader: ['header'],
  headremove: ['pattern'],
  addresponseheader: ['header'],
  removeresponseheader: ['pattern'],
  replacerequestheader: ['header', 'match', 'replace'],
  replaceresponseheader: ['header', 'match', 'replace'],
};

/** Header rules of HTTP farms; their indexes shift when one goes (docs/api.md §4.3). */
export const headerRuleHandlers: Handlers = {
  ...handlersOf('addheader'),
  ...handlersOf('headremove'),
  ...handlersOf('addresponseheader'),
  ...handlersOf('removeresponseheader'),
  ...handlersOf('replacerequestheader'),
  ...handlersOf('replaceresponseheader'),
  'POST /farms/{farmname}/replacerequestheader/{index}/actions': (call) => move(call, 'replacerequestheader'),
  'POST /farms/{farmname}/replaceresponseheader/{index}/actions': (call) => move(call, 'replaceresponseheader'),
};

const description = 'Header rules';

function handlersOf(kind: HeaderRuleKind): Handlers {
  const model = Object.fromEntries(fields[kind].map((field) => [field, required(anyText)]));
  const rule = (call: Call): HeaderRule => {
    const input = checkParameters(call, description, model);
    return Object.fromEntries(fields[kind].map((field) => [field, text(input, field)]));
  };
  return {
    [`POST /farms/{farmname}/${kind}`]: (call) => {
      const farm = httpFarmOf(call, description);
      const made = rule(call);
      if (farm.rules[kind].some((other) => JSON.stringify(other) === JSON.stringify(made)))
        return refuse(400, description, 'There is such a rule.');
      farm.rules[kind].push(made);
      return done(description, 'The rule is made.', { success: 'true', ...pending(farm) });
    },
    [`PUT /farms/{farmname}/${kind}/{index}`]: (call) => {
      const { farm, rules, index } = ruleOf(call, kind);
      rules[index] = rule(call);
      return done(description, 'The rule is changed.', { success: 'true', ...pending(farm) });
    },
    [`DELETE /farms/{farmname}/${kind}/{index}`]: (call) => {
      const { farm, rules, index } = ruleOf(call, kind);
      rules.splice(index, 1);
      return done(description, 'The rule is gone.', { success: 'true', ...pending(farm) });
    },
  };
}

/** Those of a kind that are taken in turn have an order. */
function move(call: Call, kind: HeaderRuleKind): Reply {
  const { farm, rules, index } = ruleOf(call, kind);
  const position = number(checkParameters(call, description, { position: required(natural) }), 'position', 0);
  rules.splice(position, 0, ...rules.splice(index, 1));
  return done(description, 'The rule is moved.', { params: { position }, ...pending(farm) });
}

function ruleOf(call: Call, kind: HeaderRuleKind) {
  const farm = httpFarmOf(call, description);
  const index = Number(param(call, 'index'));
  if (!farm.rules[kind][index]) return refuse(400, description, `There is no rule ${index}.`);
  return { farm, rules: farm.rules[kind], index };
}
