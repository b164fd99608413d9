import { param, type Call, type Handlers } from '../call.ts';
import { backupDate } from '../dates.ts';
import { checkParameters, required, text, yesNo } from '../parameters.ts';
import { done, read, refuse } from '../reply.ts';
import type { Backup } from '../world.ts';

/** Backups (docs/api.md §3.12, §4.7). */
export const backupHandlers: Handlers = {
  'GET /system/backup': ({ world }) =>
    read(
      'Backups',
      [...world.backups.values()].map(({ name, createdAt, version }) => ({
        name,
        date: backupDate(createdAt),
        version,
      })),
    ),

  'POST /system/backup': (call) => {
    const description = 'Make a backup';
    const name = text(checkParameters(call, description, { name: required({ pattern: /^[\w-]+$/ }) }), 'name');
    if (call.world.backups.has(name)) return refuse(400, description, `There is a backup ${name}.`);
    add(call, name);
    return done(description, `The backup ${name} is made.`, { params: name });
  },

  'GET /system/backup/{name}': (call) => {
    const { name } = find(call, 'Download a backup', 404);
    return {
      kind: 'file',
      status: 200,
      filename: `${name}.tar.gz`,
      content: Buffer.from(`the configuration in ${name}`),
    };
  },

  'PUT /system/backup/{name}': (call) => {
    const description = 'Upload a backup';
    const name = param(call, 'name');
    if (call.world.backups.has(name)) return refuse(400, description, `There is a backup ${name}.`);
    // An archive as base64 text: gzip begins with 1f 8b.
    if (!call.content.toString().startsWith('H4sI')) return refuse(400, description, 'This is no backup.');
    add(call, name);
    return done(description, `The backup ${name} is stored.`, { params: name });
  },

  'DELETE /system/backup/{name}': (call) => {
    const description = 'Delete a backup';
    const { name } = find(call, description, 400);
    call.world.backups.delete(name);
    return done(description, `The backup ${name} is gone.`);
  },

  'POST /system/backup/{name}/actions': (call) => {
    const description = 'Apply a backup';
    const backup = find(call, description, 404);
    const input = checkParameters(call, description, { action: required({ values: ['apply'] }), force: yesNo });
    if (backup.version !== call.world.productVersion && input['force'] !== 'true')
      return refuse(400, description, 'It is of another version.');
    return done(description, `The backup ${backup.name} is in force.`);
  },
};

function add({ world, nowMs }: Call, name: string): void {
  world.backups.set(name, { name, createdAt: nowMs, version: world.productVersion });
}

/** Names are looked up by their beginning, which the appliance does by mistake (docs/api.md §8). */
function find(call: Call, description: string, otherwise: number): Backup {
  const name = param(call, 'name');
  const found = [...call.world.backups.values()].find((backup) => backup.name.startsWith(name));
  return found ?? refuse(otherwise, description, `There is no backup ${name}.`);
}
