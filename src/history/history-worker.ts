import { workerData } from 'node:worker_threads';
import { answerEach } from '../lib/asked-thread.ts';
import { HistoryKeeper, type Question } from './keeper.ts';

const keeper = new HistoryKeeper((workerData as { readonly file: string | undefined }).file);
answerEach((question: Question) => keeper.answer(question));
