import { describeRunbooks } from './runbooks.ts';

describeRunbooks('odd');
