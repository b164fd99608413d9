import { workerData } from 'node:worker_threads';
import { serveRequests } from '../../lib/worker-client.ts';
import { JournalKeeper, type JournalRequest } from './keeper.ts';

const keeper = new JournalKeeper((workerData as { readonly file: string }).file);
serveRequests((request: JournalRequest) => keeper.answer(request));
