// Adds a button that copies to each block of commands. The page is complete without this script.

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
    // Over plain HTTP from another machine, browsers give no access to the clipboard.
    getSelection()?.selectAllChildren(code);
    button.textContent = 'Press Ctrl+C';
  }
}
