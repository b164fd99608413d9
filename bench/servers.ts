import { gunzipSync } from 'node:zlib';
import { textOf } from '../test/support/store-text.ts';
import { startChild } from './child.ts';
import type { Fleet } from './fleet.ts';
import { createScraper, type Scrape, type Scraper } from './scraper.ts';
import { sentHeaders } from './sent-headers.ts';

/** The exporter and the server of fixed bytes, each in its own process, scraped from this one. */
export interface Servers {
  readonly exporter: Scraper;
  readonly fixed: Scraper;
  /** Has the exporter take new readings of one appliance; resolves once they are on its page. */
  takeReadings(appliance: string): Promise<void>;
  /** Throws unless plain and gzip answers hold the same page. */
  checkPage(): Promise<void>;
  close(): void;
}

/** Starts both and proves that they send the same bytes. */
export async function startServers(fleet: Fleet): Promise<Servers> {
  const child = await startChild(new URL('exporter-server.ts', import.meta.url));
  const exporter = createScraper(child.url);
  const plain = await exporter.scrape('plain');
  const gzip = await exporter.scrape('gzip');
  requireSame('the page and ours', pageOf(plain), Buffer.from(await textOf(fleet.store)));

  const staticChild = await startChild(new URL('static-server.ts', import.meta.url), {
    plain: { headers: sentHeaders(plain), body: plain.body },
    gzip: { headers: sentHeaders(gzip), body: gzip.body },
  });
  const fixed = createScraper(staticChild.url);
  requireSame('plain answers', (await fixed.scrape('plain')).body, plain.body);
  requireSame('gzip answers', (await fixed.scrape('gzip')).body, gzip.body);

  return {
    exporter,
    fixed,
    takeReadings: (appliance) => child.ask({ appliance }).then(() => undefined),
    async checkPage() {
      requireSame('plain and gzip', pageOf(await exporter.scrape('plain')), pageOf(await exporter.scrape('gzip')));
    },
    close() {
      exporter.close();
      fixed.close();
      child.stop();
      staticChild.stop();
    },
  };
}

/** The appliances' part of an answer; the exporter's own metrics, which follow, differ from one scrape to the next. */
function pageOf({ headers, body }: Scrape): Buffer {
  const text = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  return text.subarray(0, text.indexOf('# HELP process_'));
}

function requireSame(what: string, a: Buffer, b: Buffer): void {
  if (!a.equals(b)) throw new Error(`${what} differ: ${a.length} and ${b.length} bytes`);
}
