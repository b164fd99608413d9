import { writeFileSync } from 'node:fs';
import { zabbixTemplate } from './zabbix/template.ts';

writeFileSync(new URL('../deploy/zabbix/zlb-exporter.yaml', import.meta.url), zabbixTemplate());
