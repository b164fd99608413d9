import { html, joined, type Markup, markupText, trusted } from '../html.ts';
import { isOneLine } from '../../lib/text.ts';

/**
 * Labels of alerts that commands and queries of the runbooks use, as variables of the same names.
 */
export const runbookLabels = ['appliance', 'farm', 'service', 'backend', 'interface', 'file', 'vpn', 'node'] as const;

export type RunbookLabels = Readonly<Partial<Record<(typeof runbookLabels)[number], string>>>;

/** Addresses that the commands of the runbooks use; undefined where none is known. */
export interface OwnAddresses {
  readonly exporter: string | undefined;
  /** Undefined while the admin gateway is off. */
  readonly gateway: string | undefined;
  readonly appliance: string | undefined;
  readonly configuration: string | undefined;
}

const maxNameLength = 200;
/** Matches texts that a shell needs no quotes for. */
const plainWord = /^[\w.:@%+,/][\w.:@%+,/-]*$/;
/**
 * Matches the placeholders of render-runbooks.ts: the labels of a section, the remark about the
 * gateway, and each use of a label or an address.
 */
const gap = /<!--labels ([a-z ]+)-->|<!--(gateway)-->|<var data-(shell|query|own)="([a-z]+)">([^<]*)<\/var>/g;
/** Matches what only a reader without an alert needs. */
const unfilled = /<!-- unfilled -->.*?<!-- \/unfilled -->/gs;

/**
 * Returns the labels in the query of a request; a name that is repeated, too long or no text for
 * people is left out.
 */
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
export function runbooksFor(source: string, labels: RunbookLabels, addresses: OwnAddresses): Markup {
  const relevant = Object.keys(labels).length === 0 ? source : source.replaceAll(unfilled, '');
  const filled = relevant.replaceAll(
    gap,
    (_whole, used?: string, gateway?: string, kind = '', label = '', shown = '') => {
      if (used !== undefined) return markupText(remark(used.split(' ')));
      return markupText(gateway === undefined ? placeOf(kind, label, shown) : gatewayRemark(addresses));
    },
  );
  return trusted(filled);

  function valueOf(label: string): string | undefined {
    return Object.hasOwn(labels, label) ? labels[label as keyof RunbookLabels] : undefined;
  }

  /**
   * Renders a gap; a name that is not a plain word stays a variable in commands, because quotes would
   * not be right everywhere.
   */
  function placeOf(kind: string, label: string, shown: string): Markup {
    const value = kind === 'own' ? addresses[label as keyof OwnAddresses] : valueOf(label);
    if (value === undefined || (kind !== 'query' && !plainWord.test(value))) return html`<var>${trusted(shown)}</var>`;
    return html`<var class="filled">${kind === 'query' ? value.replaceAll(/["\\]/g, String.raw`\$&`) : value}</var>`;
  }

  /**
   * Renders a remark below a heading: the labels that are filled in, and the meaning of the
   * variables.
   */
  function remark(used: readonly string[]): Markup {
    const known = used.filter((label) => valueOf(label) !== undefined);
    const odd = known.filter((label) => !plainWord.test(valueOf(label) ?? ''));
    const missing = used.filter((label) => valueOf(label) === undefined);
    return html`<p class="labels">${
      known.length > 0 &&
      html`Filled in: ${joined(
        known.map((label) => html`${label} <b><bdi>${valueOf(label)}</bdi></b>`),
        ', ',
      )}. `
    }${
      odd.length > 0 &&
      html`Set in the shell first: ${joined(
        odd.map((label) => html`<code>${assignment(label, valueOf(label) ?? '')}</code>`),
        ' ',
      )}. `
    }${
      missing.length > 0 &&
      html`${joined(
        missing.map((label) => html`<code>$${label}</code>`),
        ' and ',
      )} ${missing.length === 1 ? 'is' : 'are'} not in this link: look in the text of the alert. Set ${missing.length === 1 ? 'it' : 'them'} in the shell (<code>${missing.map((label) => `${label}=NAME`).join(' ')}</code>), or open this page with <code>?${missing.map((label) => `${label}=NAME`).join('&')}</code>. `
    }${addresses.appliance !== undefined && html`<a href="#changes">What changed before</a> · `}<a href="#commands">About the commands</a></p>`;
  }
}

function gatewayRemark({ gateway }: OwnAddresses): Markup {
  return html`${
    gateway === undefined &&
    html`<p class="labels"><b>The admin gateway of this exporter is off</b>, so <code>zlb-exporter admin</code> does not work here: <a href="#commands">without the gateway</a>.</p>`
  }`;
}

function assignment(label: string, value: string): string {
  return `${label}='${value.replaceAll("'", String.raw`'\''`)}'`;
}
