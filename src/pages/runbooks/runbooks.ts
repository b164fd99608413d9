import { html, joinMarkup, type Markup, markupText, trustedMarkup } from '../html.ts';
import { isOneLine } from '../../lib/text.ts';

/** Labels of alerts that are variables in commands and queries of the runbooks. */
export const runbookLabels = ['appliance', 'farm', 'service', 'backend', 'interface', 'file', 'vpn', 'node'] as const;

export type RunbookLabels = Readonly<Partial<Record<(typeof runbookLabels)[number], string>>>;

/** Addresses in the commands of the runbooks; undefined if unknown. */
export interface RunbookAddresses {
  readonly exporter: string | undefined;
  /** Undefined while the admin gateway is off. */
  readonly gateway: string | undefined;
  readonly appliance: string | undefined;
  readonly configuration: string | undefined;
}

const maxNameLength = 200;
/** Matches texts that need no quotes in a shell. */
const plainWord = /^[\w.:@%+,/][\w.:@%+,/-]*$/;
/**
 * Matches the placeholders of render-runbooks.ts: the labels of a section, the remark about the
 * gateway, and each use of a label or an address.
 */
const placeholder = /<!--labels ([a-z ]+)-->|<!--(gateway)-->|<var data-(shell|query|own)="([a-z]+)">([^<]*)<\/var>/g;
/** Matches what only a reader without an alert needs. */
const unfilled = /<!-- unfilled -->.*?<!-- \/unfilled -->/gs;

/** Returns the labels in a query; repeated, long and unprintable ones are left out. */
export function readRunbookLabels(query: Readonly<Record<string, unknown>>): RunbookLabels {
  const entries = runbookLabels.map((label) => [label, query[label]] as const);
  return Object.fromEntries(
    entries.filter(([, value]) => typeof value === 'string' && value !== '' && isOneLine(value, maxNameLength)),
  ) as RunbookLabels;
}

/**
 * Returns the runbooks with the labels of an alert in their commands and queries, and the addresses
 * of this exporter.
 */
export function runbooksFor(source: string, labels: RunbookLabels, addresses: RunbookAddresses): Markup {
  const relevant = Object.keys(labels).length === 0 ? source : source.replaceAll(unfilled, '');
  const filled = relevant.replaceAll(
    placeholder,
    (_whole, used?: string, gateway?: string, kind = '', label = '', shown = '') => {
      if (used !== undefined) return markupText(remark(used.split(' ')));
      return markupText(gateway === undefined ? fillGap(kind, label, shown) : gatewayRemark(addresses));
    },
  );
  return trustedMarkup(filled);

  function valueOf(label: string): string | undefined {
    return Object.hasOwn(labels, label) ? labels[label as keyof RunbookLabels] : undefined;
  }

  /** Fills a gap. In commands, a name that needs quotes stays a variable. */
  function fillGap(kind: string, label: string, shown: string): Markup {
    const value = kind === 'own' ? addresses[label as keyof RunbookAddresses] : valueOf(label);
    if (value === undefined || (kind !== 'query' && !plainWord.test(value)))
      return html`<var>${trustedMarkup(shown)}</var>`;
    return html`<var class="filled">${kind === 'query' ? value.replaceAll(/["\\]/g, String.raw`\$&`) : value}</var>`;
  }

  /** Renders the remark below a heading: which labels are filled in, and how to set the others. */
  function remark(used: readonly string[]): Markup {
    const known = used.filter((label) => valueOf(label) !== undefined);
    const odd = known.filter((label) => !plainWord.test(valueOf(label) ?? ''));
    const missing = used.filter((label) => valueOf(label) === undefined);
    return html`<p class="labels">${
      known.length > 0 &&
      html`Filled in: ${joinMarkup(
        known.map((label) => html`${label} <b><bdi>${valueOf(label)}</bdi></b>`),
        ', ',
      )}. `
    }${
      odd.length > 0 &&
      html`Set in the shell first: ${joinMarkup(
        odd.map((label) => html`<code>${assignment(label, valueOf(label) ?? '')}</code>`),
        ' ',
      )}. `
    }${
      missing.length > 0 &&
      html`${joinMarkup(
        missing.map((label) => html`<code>$${label}</code>`),
        ' and ',
      )} ${missing.length === 1 ? 'is' : 'are'} not in this link: look in the text of the alert. Set ${missing.length === 1 ? 'it' : 'them'} in the shell (<code>${missing.map((label) => `${label}=NAME`).join(' ')}</code>), or open this page with <code>?${missing.map((label) => `${label}=NAME`).join('&')}</code>. `
    }${addresses.appliance !== undefined && html`<a href="#changes">What changed before</a> · `}<a href="#commands">About the commands</a></p>`;
  }
}

function gatewayRemark({ gateway }: RunbookAddresses): Markup {
  return html`${
    gateway === undefined &&
    html`<p class="labels"><b>The admin gateway of this exporter is off</b>, so <code>zlb-exporter admin</code> does not work here: <a href="#commands">without the gateway</a>.</p>`
  }`;
}

function assignment(label: string, value: string): string {
  return `${label}='${value.replaceAll("'", String.raw`'\''`)}'`;
}
