import { DashboardLinkBuilder, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';

export const tag = 'zlb';

/** From every board to the others; time and variables go along. */
export function linksToBoards(): DashboardLinkBuilder {
  return new DashboardLinkBuilder('Load balancers')
    .type(DashboardLinkType.Dashboards)
    .tags([tag])
    .icon('dashboard')
    .tooltip('The other boards, with this time and these variables')
    .asDropdown(false)
    .includeVars(true)
    .keepTime(true)
    .targetBlank(false);
}

export interface RowLink {
  readonly title: string;
  readonly url: string;
}

/** From a row of a table to the narrower board; labels are columns of the row. */
function rowLink(title: string, uid: string, labels: readonly string[]): RowLink {
  const chosen = labels.map((label) => `var-${label}=\${__data.fields.${label}}`);
  const kept = ['${datasource:queryparam}', '${job:queryparam}', '${site:queryparam}', '${__url_time_range}'];
  return { title, url: `/d/${uid}?${[...kept, ...chosen].join('&')}` };
}

export const toAppliance = rowLink('This appliance', 'zlb-appliance', ['appliance']);
export const toFarm = rowLink('This farm', 'zlb-farm', ['appliance', 'farm']);
export const toCertificates = rowLink('Certificates of this appliance', 'zlb-certificates', ['appliance']);
export const toExporter = rowLink('How this appliance is polled', 'zlb-exporter', ['appliance']);

/** Stands for the address of the exporter, until an operator writes it. */
export const exporterPage = 'https://runbooks.example';

/** From an alert to its runbook, with the labels that fill in its commands. */
export const toRunbook: RowLink = {
  title: 'Runbook',
  url: `${exporterPage}/runbooks/\${__data.fields.alertname}?${['appliance', 'farm']
    .map((label) => `${label}=\${__data.fields.${label}}`)
    .join('&')}`,
};
