import { readdirSync, readlinkSync } from 'node:fs';

/** Returns the files below a folder that this process has open, each with its path. */
export function openFiles(folder: string): readonly { readonly fd: string; readonly link: string }[] {
  return readdirSync('/proc/self/fd')
    .flatMap((fd) => {
      try {
        return [{ fd, link: readlinkSync(`/proc/self/fd/${fd}`) }];
      } catch {
        return [];
      }
    })
    .filter(({ link }) => link.startsWith(folder));
}
