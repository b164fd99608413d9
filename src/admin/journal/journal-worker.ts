import { workerData } from 'node:worker_threads';
import { serveRequests } from '../../lib/worker-client.ts';
import { JournalRequestHandler, type JournalRequest } from './request-handler.ts';

const handler = new JournalRequestHandler((workerData as { readonly file: string }).file);
serveRequests((request: JournalRequest) => handler.handle(request));
