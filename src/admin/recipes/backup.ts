import { AdminError } from '../policy/admin-error.ts';
import { jsonContent } from './calls.ts';
import { callStep, type Recipe, type RecipeContext, type Step } from './recipe.ts';

export const backup: Recipe = {
  name: 'backup',
  about: 'back up the configuration and see that the backup is there',
  parameters: { name: 'optional' },
  async plan(context) {
    const name = context.params.name ?? defaultName(context.askedAtMs);
    const steps = await backupSteps(context, name);
    return { facts: [`${context.calls.appliance} gets a backup ${name}.`], steps };
  },
};

/**
 * Returns the steps of a backup, also for `--backup-first`; rejects with an AdminError when the
 * name is invalid or taken.
 */
export async function backupSteps(
  { calls, askedAtMs }: Pick<RecipeContext, 'calls' | 'askedAtMs'>,
  name = defaultName(askedAtMs),
): Promise<readonly Step[]> {
  if (!/^[\w-]+$/.test(name)) throw unusableName(name, 'Only letters, digits, _ and - can stand in it.');
  const present = await listNames(calls);
  // The appliance finds a backup by the beginning of its name (docs/api.md §4.7).
  const similar = present.find((other) => other.startsWith(name));
  if (similar !== undefined) throw unusableName(name, `The appliance would take it for ${similar}, which is there.`);
  return [
    callStep({
      title: `Create the backup ${name}`,
      write: { operationId: 'createBackup', params: {}, content: jsonContent({ name }) },
      done: `The appliance made the backup ${name}.`,
    }),
    {
      title: 'See that it is listed',
      async run() {
        const listed = await listNames(calls);
        if (listed.includes(name)) return `${name} is one of ${listed.length} backups.`;
        throw new AdminError(`The backup ${name} is not listed`, {
          detail: `The appliance lists ${listed.join(', ') || 'none'}.`,
          remedy: 'Do not rely on it: look at the disk of the appliance, then make another.',
        });
      },
    },
  ];
}

async function listNames(calls: RecipeContext['calls']): Promise<readonly string[]> {
  const { params } = await calls.read('listBackups', {});
  return params.map(({ name }) => name);
}

/** Returns `pre-change-20261121-090000`, in UTC. */
function defaultName(atMs: number): string {
  const [date = '', time = ''] = new Date(atMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').split('T');
  return `pre-change-${date}-${time}`;
}

function unusableName(name: string, because: string): AdminError {
  return new AdminError(`${name} cannot be the name of the backup`, {
    detail: `${because} Nothing was changed.`,
    remedy: 'Choose another with name=….',
  });
}
