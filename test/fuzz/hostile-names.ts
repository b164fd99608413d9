import * as fc from 'fast-check';

/** Names that mean something to a path, a URL, a label, an object or a terminal. */
export const hostileName: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...['.', '..', '...', '/', '//', '../..', '..%2f', '%2e%2e', '%252e', '%2f', '%5c', '\\', '..\\', ';a=b', '?', '#'],
    ...['a?b=c', 'a#b', 'a%', '%zz', '%00', '%0a', 'a\nb', 'a\r\nHost: b', '\0', '\u007f', '\u0085', '\u2028', ' ', ''],
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '{farmname}', '$&', '$1', '＿', '．．', '／', '‥', '√'],
    ...['\ud800', 'a\udfff', '\ud83d\ude00', '\ufeff', '\u202e', 'A\u0301', 'ﬀ', 'İ', 'a"b', "a'b", 'a\\', '\\n', '"} 1'],
    ...['hall~0123456789ab', 'x'.repeat(128), 'x'.repeat(129), `${'x'.repeat(127)}\ud83d\ude00`, 'ü'.repeat(5_000)],
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: fc.constantFrom('.', '/', '%', '2', 'e', 'f', '5', 'c', '\\', 'a', ':', ' '), maxLength: 12 }),
  fc.string({ unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)), maxLength: 8 }),
);
