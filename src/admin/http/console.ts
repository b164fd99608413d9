import type { FastifyInstance } from 'fastify';
import { registerPage } from './gateway-page.ts';

/** Registers the page for people who decide on changes. */
export function registerConsole(app: FastifyInstance): void {
  registerPage(app, 'console', [
    'page.css',
    'elements.js',
    'match.js',
    'times.js',
    'warning.svg',
    'well.svg',
    'unknown.svg',
  ]);
  app.get('/', (_request, reply) => reply.redirect('./console'));
}
