export const element = (id) => document.getElementById(id);

/** Shows one screen and puts the reader at its first empty field, or at its heading. */
export function show(name) {
  for (const section of document.querySelectorAll('main > section')) section.hidden = section.id !== `screen-${name}`;
  const section = element(`screen-${name}`);
  document.title = `${section.querySelector('h2').textContent} · Castellan`;
  const field = [...section.querySelectorAll('input:not([readonly])')].find(
    (input) => input.value === '' && input.offsetParent !== null,
  );
  (field ?? section.querySelector('h2')).focus();
}

/** Said at once by a screen reader, and kept on screen until the next try. */
export function fail(message, field) {
  const place = element('failure');
  place.textContent = message;
  place.hidden = false;
  if (!field) return;
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-errormessage', 'failure');
  field.focus();
  field.select();
}

export function forgetFailure() {
  element('failure').hidden = true;
  for (const field of document.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid');
    field.removeAttribute('aria-errormessage');
  }
}

export const say = (message) => {
  element('progress').textContent = message;
};

/** Handles a form's submission in this page; a second one while the first is under way does nothing. */
export function whenSubmitted(form, work) {
  let busy = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    const button = form.querySelector('button[type=submit]');
    // Not `disabled`: that would take the focus away.
    button.setAttribute('aria-disabled', 'true');
    forgetFailure();
    say('One moment…');
    try {
      await work(new FormData(form));
    } finally {
      busy = false;
      button.removeAttribute('aria-disabled');
      say('');
    }
  });
}
