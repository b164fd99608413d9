import { describeRunbooks } from './runbooks.ts';

describeRunbooks('even');
