import { workerData } from 'node:worker_threads';
import { serveRequests } from '../../lib/worker-client.ts';
import { JournalKeeper, type JournalQuestion } from './keeper.ts';

const keeper = new JournalKeeper((workerData as { readonly file: string }).file);
serveRequests((question: JournalQuestion) => keeper.answer(question));
