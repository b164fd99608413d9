import { workerData } from 'node:worker_threads';
import { serveRequests } from '../lib/worker-client.ts';
import { HistoryKeeper, type Question } from './keeper.ts';

const keeper = new HistoryKeeper((workerData as { readonly file: string | undefined }).file);
serveRequests((question: Question) => keeper.answer(question));
