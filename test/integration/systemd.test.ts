import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isThere } from '../support/programs.ts';

const unit = 'deploy/systemd/zlb-exporter.service';
const text = readFileSync(unit, 'utf8');

describe('the systemd unit', () => {
  it('starts the built program, as the image does', () => {
    const dockerfile = readFileSync('Dockerfile', 'utf8');
    const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as { bin: Record<string, string> };

    expect(text).toContain(`/opt/zlb-exporter/${bin['zlb-exporter']} `);
    expect(dockerfile).toContain(`"/app/${bin['zlb-exporter']}"`);
  });

  it('grants the folders of its README, and no more', () => {
    const readme = readFileSync('deploy/README.md', 'utf8');
    const folders = [...text.matchAll(/--allow-fs-(?:read|write)=([^\s"]+)/g)].map(([, folder = '']) => folder);

    expect(folders.filter((folder) => folder !== '/proc' && !readme.includes(folder))).toEqual([]);
    expect(text.match(/--allow-fs-write=[^\s"]+/g)).toEqual(['--allow-fs-write=/var/lib/zlb-exporter']);
    expect(text).not.toMatch(/--allow-(?:child-process|addons|wasi|inspector)/);
  });

  describe.skipIf(!isThere('systemd-analyze'))('systemd-analyze security', () => {
    it('rates the unit below an exposure of two of ten', () => {
      const { status, stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit], {
        encoding: 'utf8',
      });
      const [, exposure] = /Overall exposure level .*: (\d+\.\d+)/.exec(stdout) ?? [];

      expect(status).toBe(0);
      expect(Number(exposure)).toBeLessThan(2);
    });
  });
});
