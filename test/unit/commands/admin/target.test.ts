import { expect, it } from 'vitest';
import { createOperations } from '../../../../src/admin/policy/operation.ts';
import { parseTarget } from '../../../../src/commands/admin/words.ts';

const operations = createOperations();

function targetOf(...words: string[]) {
  const { call, fields } = parseTarget(words, operations);
  return {
    key: call.operation.operationId,
    path: call.path,
    fields: Object.fromEntries(fields.map((f) => [f.name, f.value])),
  };
}

it.each([
  [['actOnFarm', 'farmname=shop', 'action=stop']],
  [['actOnFarm', 'action=stop', 'farmname=shop']],
  [['PUT /farms/shop/actions', 'action=stop']],
  [['PUT', '/farms/shop/actions', 'action=stop']],
  [['put', '/farms/shop/actions', 'action=stop']],
  [['PUT', '/farms/{farmname}/actions', 'farmname=shop', 'action=stop']],
  [['PUT /farms/{farmname}/actions', 'farmname=shop', 'action=stop']],
])('the arguments %j mean the same call', (words) => {
  const target = targetOf(...words);

  expect(target).toEqual({ key: 'actOnFarm', path: '/farms/shop/actions', fields: { action: 'stop' } });
});

it.each<readonly [readonly string[], string, object]>([
  // A path, as a person or a log writes it.
  [['/farms/shop'], '/farms/shop', {}],
  [['GET /interfaces/virtual/eth0:web'], '/interfaces/virtual/eth0:web', {}],
  [['/certificates/my%20shop.pem/info'], '/certificates/my%20shop.pem/info', {}],
  // The rest of a path, and a name that is in the path before it is in the body.
  [['readRoutingPath', 'path=tables/main/routes'], '/routing/tables/main/routes', {}],
  [['addBondingSlave', 'name=bond0', 'name=eth2'], '/interfaces/bonding/bond0/slaves', { name: 'eth2' }],
  // Texts as they are, and JSON after :=.
  [['createBonding', 'mode=802.3ad', 'x=a=b', 'y='], '/interfaces/bonding', { mode: '802.3ad', x: 'a=b', y: '' }],
  [['createBonding', 'slaves:=["eth1","eth2"]'], '/interfaces/bonding', { slaves: ['eth1', 'eth2'] }],
])('the arguments %j mean the path %s with %j', (words, path, fields) => {
  const { path: found, fields: others } = targetOf(...words);

  expect([found, others]).toEqual([path, fields]);
});

it.each([
  [['actOnFram'], /there is no recipe or operation "actOnFram"; did you mean actOnFarm\?/],
  [['constructor'], /there is no recipe or operation "constructor"; zlb-exporter admin operations/],
  [['a\u001b[2Jb'], /there is no recipe or operation "a \[2Jb"/],
  [['PUT', '/farms/shop/acts'], /there is no PUT \/farms\/shop\/acts; zlb-exporter admin operations/],
  [['DELETE', '/farms'], /there is no DELETE \/farms, only GET, POST;/],
  [['/farms/../system/users'], /there is no GET/],
  [['/farms/%2e%2e/x'], /there is no GET/],
  [['/farms//shop'], /there is no GET/],
  [['PUT'], /there is no recipe or operation "PUT"/],
  [['actOnFarm', 'action=stop'], /actOnFarm is PUT .*: give farmname=…$/],
  [['readFarm', 'farmname=a/b'], /a value cannot be part of the path \/farms\/\{farmname\}/],
  [['readFarm', 'farmname='], /a value cannot be part of the path/],
  [['readFarm', 'farmname=..'], /a value cannot be part of the path/],
  [['listFarms', 'hunter2'], /^what follows must be name=value, or name:=JSON for lists and objects$/],
  [['createBonding', 'slaves:=[eth1'], /^slaves:= needs JSON/],
])('the arguments %j are refused as an operation', (words, message) => {
  expect(() => parseTarget(words, operations)).toThrow(message);
});
