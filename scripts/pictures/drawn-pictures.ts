import { drawHouse } from './house.ts';
import { drawLife, lifeOfAChange, lifeOfANumber, lifeOfARequest } from './lives.ts';

/** The pictures of docs/architecture.md and docs/admin.md by their names in docs/pictures/. */
export function drawnPictures(): ReadonlyMap<string, string> {
  return new Map([
    ['house.svg', drawHouse()],
    ['life-of-a-number.svg', drawLife('The life of a number', lifeOfANumber)],
    ['life-of-a-change.svg', drawLife('The life of a change request', lifeOfAChange)],
    ['life-of-a-request.svg', drawLife('The life of an admin request', lifeOfARequest)],
  ]);
}
