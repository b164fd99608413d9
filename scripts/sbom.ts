import { writeFileSync } from 'node:fs';
import { billOfMaterials } from './bill-of-materials.ts';

const file = 'zlb-exporter.cdx.json';
const bill = billOfMaterials();
writeFileSync(new URL(`../${file}`, import.meta.url), `${JSON.stringify(bill, null, 2)}\n`);
console.log(`${file}: ${bill.components.length} packages`);
