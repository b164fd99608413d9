// Adds a button to each block of commands that copies it. The page is complete without it.

for (const block of document.querySelectorAll('pre')) {
  const code = block.querySelector('code');
  if (!code) continue;
  const button = document.createElement('button');
  button.className = 'copy';
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', () => void copy(code, button));
  block.append(button);
}

/**
 * Copies a text, and says whether it worked.
 * @param {HTMLElement} code
 * @param {HTMLButtonElement} button
 */
async function copy(code, button) {
  try {
    await navigator.clipboard.writeText(code.textContent ?? '');
    button.textContent = 'Copied';
  } catch {
    // Browsers have no clipboard for pages over plain HTTP from another machine.
    getSelection()?.selectAllChildren(code);
    button.textContent = 'Press Ctrl+C';
  }
}
