import { expect } from 'vitest';
import type { Identity } from '../../../simulator/certificate.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import type { HttpFarm } from '../../../simulator/world-farms.ts';
import { certificate } from '../../../simulator/world-parts.ts';
import type { World } from '../../../simulator/world.ts';
import type { GivenOptions } from '../../support/given-gateway.ts';
import { dayMs, issue } from '../../support/issue.ts';
import { givenAdminCli } from '../admin-cli/given-admin-cli.ts';

/** Puts a certificate into the store of a world, and gives it to a farm. */
export function attach(world: World, farm: string, file: string, { cert, key, subject }: Identity, until = 29): void {
  world.certificates.set(
    file,
    certificate(file, {
      commonName: subject.CN ?? 'no CN',
      notBefore: Date.now() - 60 * dayMs,
      notAfter: Date.now() + until * dayMs,
      pem: cert + key,
    }),
  );
  httpsFarm(world, farm).certificates.push(file);
  // Its listener loads it.
  delete httpsFarm(world, farm).loaded;
}

export function httpsFarm(world: World, farm: string): HttpFarm {
  const found = world.farms.get(farm);
  if (found?.profile !== 'http') throw new Error(`${farm} is not an HTTP farm`);
  return found;
}

/** A world whose farm `shop` has a certificate that begins 60 days ago. */
export function worldWith(old: Identity = issue({ from: -60, until: 29 }), make = busyWorld): World {
  const world = make();
  httpsFarm(world, 'shop').certificates = [];
  attach(world, 'shop', 'old.pem', old);
  return world;
}

/** Adds a farm `shop2` with the certificates of `shop`. */
export function addSecondFarm(world: World): void {
  world.farms.set('shop2', { ...structuredClone(httpsFarm(world, 'shop')), name: 'shop2', vport: '9443' });
}

/** The command, appliances in these states, and the files of a renewed certificate. */
export async function given(
  worlds: Readonly<Record<string, World>>,
  renewed: Identity = issue(),
  options: GivenOptions = {},
) {
  const cli = await givenAdminCli(worlds, options);
  const cert = await cli.file('fullchain.pem', renewed.cert);
  const key = await cli.file('privkey.pem', renewed.key);
  return { ...cli, cert, key, words: ['deliver', `--cert=${cert}`, `--key=${key}`] };
}

export const fileOf = (world: World, farm = 'shop') => httpsFarm(world, farm).certificates;
export const isNew = expect.stringMatching(/^shop\.example\.com-[\da-f]{12}\.pem$/);
