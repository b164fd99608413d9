import { workerData } from 'node:worker_threads';
import { serveRequests } from '../lib/worker-client.ts';
import { HistoryRequestHandler, type HistoryRequest } from './request-handler.ts';

const handler = new HistoryRequestHandler((workerData as { readonly file: string | undefined }).file);
serveRequests((request: HistoryRequest) => handler.handle(request));
