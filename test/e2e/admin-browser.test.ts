import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { listening } from '../support/listening.ts';
import { givenBrowser, type OpenPage } from '../support/browser.ts';
import { givenGateway } from '../support/given-gateway.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

/**
 * Every way in which a page can make its browser send something, as an expression that runs in the
 * page; `base` is the gateway, `token` one that works. Each says whether the page got anything
 * back.
 */
const attempts = {
  'a plain fetch': `fetch(base + '/appliances/lb-1/farms').then((r) => r.text())`,
  'a fetch with a token': `fetch(base + '/appliances/lb-1/farms', { headers: { authorization: 'Bearer ' + token } }).then((r) => r.text())`,
  'a fetch with a key header': `fetch(base + '/api/v4.0/api.cgi/farms', { headers: { 'ZAPI-KEY': token } }).then((r) => r.text())`,
  'a fetch with all that the browser remembers': `fetch(base + '/appliances/lb-1/farms', { credentials: 'include' }).then((r) => r.text())`,
  'a fetch that changes': `fetch(base + '/appliances/lb-1/farms/shop/actions', { method: 'PUT', headers: { 'content-type': 'application/json', authorization: 'Bearer ' + token }, body: '{"action":"stop"}' }).then((r) => r.text())`,
  'a fetch that deletes': `fetch(base + '/appliances/lb-1/farms/shop', { method: 'DELETE', headers: { 'x-confirm': 'shop', authorization: 'Bearer ' + token } }).then((r) => r.text())`,
  'a simple fetch that changes': `fetch(base + '/appliances/lb-1/system/backup', { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: '{"name":"x1"}' }).then((r) => r.text())`,
  'a simple fetch that uploads': `fetch(base + '/appliances/lb-1/certificates/x1.pem?token=' + token, { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: 'x' }).then((r) => r.text())`,
  'a beacon': `Promise.resolve(navigator.sendBeacon(base + '/appliances/lb-1/certificates/x2.pem', new Blob(['x'], { type: 'text/plain' }))).then(() => '')`,
  'an XMLHttpRequest': `new Promise((resolve, reject) => { const x = new XMLHttpRequest(); x.open('POST', base + '/appliances/lb-1/certificates/x3.pem'); x.setRequestHeader('content-type', 'text/plain'); x.withCredentials = true; x.onload = () => resolve(x.responseText); x.onerror = () => reject(new Error('refused')); x.send('x'); })`,
  'an image': `new Promise((resolve, reject) => { const i = new Image(); i.onload = () => resolve('loaded'); i.onerror = () => reject(new Error('refused')); i.src = base + '/appliances/lb-1/graphs?token=' + token; })`,
  'an image with a password in its address': `new Promise((resolve, reject) => { const i = new Image(); i.onload = () => resolve('loaded'); i.onerror = () => reject(new Error('refused')); i.src = base.replace('://', '://admin:' + token + '@') + '/appliances/lb-1/graphs'; })`,
  'a script': `new Promise((resolve, reject) => { const s = document.createElement('script'); s.onload = () => resolve('loaded'); s.onerror = () => reject(new Error('refused')); s.src = base + '/appliances/lb-1/farms'; document.body.append(s); })`,
  'a style sheet': `new Promise((resolve, reject) => { const l = document.createElement('link'); l.rel = 'stylesheet'; l.onload = () => resolve('loaded'); l.onerror = () => reject(new Error('refused')); l.href = base + '/appliances/lb-1/farms'; document.body.append(l); })`,
  'a WebSocket': `new Promise((resolve, reject) => { const w = new WebSocket(base.replace('http', 'ws') + '/appliances/lb-1/farms'); w.onopen = () => resolve('open'); w.onerror = () => reject(new Error('refused')); })`,
  'an event stream': `new Promise((resolve, reject) => { const e = new EventSource(base + '/appliances/lb-1/farms', { withCredentials: true }); e.onopen = () => resolve('open'); e.onerror = () => { e.close(); reject(new Error('refused')); }; })`,
  'a form': `submitted('text/plain', '/appliances/lb-1/certificates/x4.pem')`,
  'a form with a token in its address': `submitted('application/x-www-form-urlencoded', '/appliances/lb-1/system/backup?api_key=' + token)`,
  'a frame': `framed('/appliances/lb-1/farms')`,
  'a frame of the documentation': `framed('/docs')`,
} as const;

/** Forms and frames load whatever they get: what counts is that nothing of it can be read. */
const helpers = `
  const read = (frame) => new Promise((resolve, reject) => {
    frame.onload = () => { try { resolve(frame.contentDocument.body.textContent); } catch { reject(new Error('refused')); } };
  });
  const added = (frame) => { document.body.append(frame); return frame; };
  const named = (name) => { const frame = document.createElement('iframe'); frame.name = name; return frame; };
  const framed = (path) => { const frame = named('f'); frame.src = base + path; const over = read(frame); added(frame); return over; };
  const submitted = (type, path) => {
    const frame = added(named('target' + Math.random()));
    const form = document.createElement('form');
    Object.assign(form, { method: 'POST', action: base + path, enctype: type, target: frame.name });
    const field = document.createElement('input');
    Object.assign(field, { name: '{"name":"x1","a":"', value: '"}' });
    form.append(field);
    document.body.append(form);
    const over = read(frame);
    form.submit();
    return over;
  };
`;

/** Opens a page of somebody else. */
async function openStrangePage(open: OpenPage, host: string) {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><body>'),
  );
  const port = await listening(server);
  const page = await open();
  await page.goto(`http://${host}:${port}/`);
  return page;
}

describe.skipIf(!isThere('chromium'))('a web page in a real browser', () => {
  const open = givenBrowser();

  it.each([
    ['from another site', 'localhost'],
    ['from the same site on another port', '127.0.0.1'],
  ])('can neither reach an appliance nor read anything, even with a token, when it is %s', async (_, host) => {
    const { url, tokenOf, appliance, audit, metrics } = await givenGateway({ 'lb-1': busyWorld() });
    const page = await openStrangePage(open, host);
    const tryAll = async () => {
      for (const [name, attempt] of Object.entries(attempts))
        expect(['refused', ''], name).toContain(await page.evaluate(script(url, tokenOf('admin'), attempt)));
      expect(appliance.requests).toEqual([]);
    };
    // They did knock at the door.
    const denied = (principal: string, reason: string) =>
      until(metrics, (text) =>
        text.includes(`zlb_admin_denied_total{appliance="",principal="${principal}",reason="${reason}"} `),
      );

    await tryAll();
    await denied('', 'unauthenticated');
    expect(await audit()).toEqual([]);

    await page.context().setExtraHTTPHeaders({ authorization: `Bearer ${tokenOf('admin')}` });
    await tryAll();
    await denied('admin', 'cross_origin');
  });
});

/** Resolves to what the page got back, or `refused`. */
function script(base: string, token: string, attempt: string): string {
  return `(() => {
    const base = ${JSON.stringify(base)};
    const token = ${JSON.stringify(token)};
    ${helpers}
    const late = new Promise((resolve) => setTimeout(() => resolve('no answer'), 60_000));
    return Promise.race([${attempt}, late]).then((text) => String(text), () => 'refused');
  })()`;
}
