import type { RunbookLabels } from './runbooks.ts';
import type { View } from './view.ts';

/** Addresses are relative: the page also works behind a proxy that gives it a path of its own. */
export function linkTo(view: View): string {
  const query = queryOf(view);
  return query === '' ? './' : `./?${query}`;
}

/** The runbook of an alert, with the labels of the alert for its commands and queries. */
export function runbookLink(alert: string, labels: RunbookLabels): string {
  const written = new URLSearchParams(Object.entries(labels)).toString();
  return `./runbooks${written === '' ? '' : `?${written}`}#${alert.toLowerCase()}`;
}

/** The same for all ways to write the same view; decoding it gives the view again. */
export function queryOf(view: View): string {
  switch (view.kind) {
    case 'fleet':
      return '';
    case 'list':
      return query({ list: view.list, page: view.page });
    case 'appliance':
      return query({ appliance: view.appliance, page: view.page });
    case 'farm':
      return query({ appliance: view.appliance, farm: view.farm });
    case 'search':
      return query({ q: view.text });
  }
}

function query(parameters: Readonly<Record<string, string | number>>): string {
  const written = Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]);
  return new URLSearchParams(written.filter(([name, value]) => name !== 'page' || value !== '1')).toString();
}
