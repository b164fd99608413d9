import { workerData } from 'node:worker_threads';
import { serveRequests } from '../../lib/worker-client.ts';
import { JournalRequestHandler, type JournalRequest } from './request-handler.ts';

const keeper = new JournalRequestHandler((workerData as { readonly file: string }).file);
serveRequests((request: JournalRequest) => keeper.answer(request));
