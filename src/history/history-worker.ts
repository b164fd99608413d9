import { workerData } from 'node:worker_threads';
import { serveRequests } from '../lib/worker-client.ts';
import { HistoryService, type Question } from './history-service.ts';

const service = new HistoryService((workerData as { readonly file: string | undefined }).file);
serveRequests((question: Question) => service.answer(question));
