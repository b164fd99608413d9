import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { givenFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { helm } from './given-chart.ts';
import { judgesFolder, run } from './tools.ts';

/** A real API server of Kubernetes with its etcd: it checks and stores objects, runs no pods. */
export interface Cluster {
  /** A file for the environment variable KUBECONFIG. */
  readonly kubeconfig: string;
  /** Sends a request; returns the object, or the status of the refusal. */
  call<Kind = Answer>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Kind>;
}

interface Answer {
  readonly kind?: string;
  readonly code?: number;
}

export async function givenCluster(programs: { etcd: string; apiserver: string }): Promise<Cluster> {
  const folder = givenFolder();
  const [clients, peers, port] = [await freePort(), await freePort(), await freePort()];
  const etcd = `http://127.0.0.1:${clients}`;
  const peer = `http://127.0.0.1:${peers}`;
  startProgram(programs.etcd, [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${etcd}`,
    `--advertise-client-urls=${etcd}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ]);
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  startProgram(programs.apiserver, [
    `--etcd-servers=${etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${join(folder, 'certificates')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${write('public.pem', publicKey.export({ type: 'spki', format: 'pem' }).toString())}`,
    `--service-account-signing-key-file=${write('private.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())}`,
    `--token-auth-file=${write('tokens.csv', 'token,admin,admin,system:masters\n')}`,
    '--authorization-mode=AlwaysAllow',
    '--service-cluster-ip-range=10.0.0.0/24',
  ]);
  const server = `https://127.0.0.1:${port}`;
  const call = async <Kind = Answer>(method: string, path: string, body?: unknown): Promise<Kind> =>
    (await send(`${server}${path}`, method, body)) as Kind;
  await until(async () => (await call('GET', '/apis/apps/v1').catch(() => ({ kind: '' }))).kind, isList, 120_000);
  await createCustomResources(call);
  const kubeconfig = write('kubeconfig', stringify(configurationFor(server)));
  return { kubeconfig, call };
}

const isList = (kind: string | undefined): boolean => kind === 'APIResourceList';

/** Returns what Helm printed, without what it says of links in the chart. */
export function helmOn({ kubeconfig }: Cluster, args: readonly string[], values?: object): string {
  const all = [...args, '--namespace', 'monitoring', '--kubeconfig', kubeconfig, ...(values ? ['-f', '-'] : [])];
  const { status, stdout, stderr } = run(helm ?? '', all, values && stringify(values));
  const said = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('walk.go'));
  expect({ status, said }).toEqual({ status: 0, said: [] });
  return stdout;
}

function startProgram(program: string, args: readonly string[]): void {
  const child = spawn(program, args, { stdio: 'ignore' });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  });
}

async function createCustomResources(call: Cluster['call']): Promise<void> {
  const group = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const kind of ['prometheusrules', 'servicemonitors', 'scrapeconfigs']) {
    const [file = ''] = globSync(join(judgesFolder, `crds/*_${kind}.yaml`));
    await call('POST', group, parse(readFileSync(file, 'utf8')));
  }
  for (const version of ['v1', 'v1alpha1'])
    await until(async () => (await call('GET', `/apis/monitoring.coreos.com/${version}`)).kind, isList);
}

function configurationFor(server: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: { token: 'token' } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };
}

/** Its certificate is its own, and made for this run. */
async function send(url: string, method: string, sentBody: unknown): Promise<unknown> {
  return await new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer token', 'content-type': 'application/json' };
    const sent = request(url, { method, headers, rejectUnauthorized: false }, (reply) => {
      // A path that is not served yet is refused in plain text.
      const isJson = reply.headers['content-type']?.startsWith('application/json') === true;
      const body = isJson ? json(reply) : text(reply).then(() => ({ code: reply.statusCode }));
      body.then(resolve, reject);
    });
    sent.on('error', reject);
    sent.end(sentBody === undefined ? undefined : JSON.stringify(sentBody));
  });
}
