import type { Level } from '../../state/level.ts';
import { levelIcons } from '../marks.ts';
import { html, type Markup, markupText } from '../html.ts';
import { clockTime } from '../times.ts';

export interface PageContent {
  readonly title: string;
  /** Shown as the icon of the page. */
  readonly level: Level;
  readonly main: Markup;
  /** The status of the response, unless it is 200. */
  readonly status?: number;
}

export interface PageFrame {
  readonly search: string;
  readonly takenAtMs: number;
  /** Identifies program and assets; an open page of another build reloads itself. */
  readonly build: string;
  /** Shown above everything else. */
  readonly banner: Markup | undefined;
}

/** Renders a note that the appliances are simulated, with the command for real ones. */
export function demonstrationBanner(command: string): Markup {
  return html`<aside class="banner" aria-label="Demonstration"><b>These are simulated load balancers: nothing on this page is real.</b>
<span>For your own: <code>${command}</code></span></aside>`;
}

/** The interval at which the page reloads without scripts. */
const refreshSeconds = 30;

function head(title: string, level: Level): Markup {
  return html`<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" id="icon" href="./assets/${level}.svg" type="image/svg+xml">
<link rel="stylesheet" href="./assets/page.css">`;
}

export function documentOf(
  { title, level, main }: PageContent,
  { search, takenAtMs, build, banner }: PageFrame,
): string {
  return markupText(html`<!doctype html>
<html lang="en" data-build="${build}">
<head>
${head(title, level)}
<script type="module" src="./assets/page.js"></script>
<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>
</head>
<body>
${levelIcons}
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="brand" href="./">zlb-exporter</a>
<form role="search" action="./" method="get"><label class="quiet" for="search">Search appliances, farms, backends and certificates</label>
<input id="search" name="q" type="search" value="${search}" placeholder="Search names, addresses, files, states" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="200">
<button>Search</button></form>
<p class="live" id="live"><span id="live-clock">As of ${clockTime(takenAtMs)}</span><noscript> · without scripts this page reloads every ${refreshSeconds} s</noscript></p>
</header>
${banner}
<p id="alarm" role="alert" hidden></p>
<main id="main" tabindex="-1">
${main}
</main>
<footer><p>States are those of the newest readings; nothing here is guessed, and what is too old is not shown. <span id="zone">Times are in UTC.</span></p></footer>
</body>
</html>
`);
}

/** Renders a static page; its script only adds buttons that copy commands. */
export function staticDocument(title: string, main: Markup): string {
  return markupText(html`<!doctype html>
<html lang="en">
<head>
${head(title, 'unknown')}
<script type="module" src="./assets/copy.js"></script>
</head>
<body class="document">
${levelIcons}
<a class="skip" href="#main">Skip to the content</a>
<header><a class="brand" href="./">zlb-exporter</a></header>
<main id="main" tabindex="-1">
<p class="back"><a href="./">All appliances</a></p>
${main}
</main>
</body>
</html>
`);
}
