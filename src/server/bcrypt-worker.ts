import { compareSync } from 'bcryptjs';
import { answerEach } from '../lib/asked-thread.ts';
import type { Comparison } from './password-check.ts';

// In a thread of its own: a comparison takes 0.1 s or longer, and must not delay scrapes.
answerEach(({ password, hash }: Comparison) => compareSync(password, hash));
