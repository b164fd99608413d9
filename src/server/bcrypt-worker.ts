import { compareSync } from 'bcryptjs';
import { serveRequests } from '../lib/worker-client.ts';
import type { Comparison } from './password-check.ts';

// In a thread of its own: a comparison takes 0.1 s or longer, and must not delay scrapes.
serveRequests(({ password, hash }: Comparison) => compareSync(password, hash));
