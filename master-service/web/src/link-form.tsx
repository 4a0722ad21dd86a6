import { page, question, submitQuestion } from './page-state.ts';

/** The fields for link and size. Without JavaScript the same form leads straight to the download. */
export function LinkForm() {
  const asking = page.value.kind === 'asking';
  const badSize = page.value.kind === 'bad-size';
  return (
    <form
      class="link-form"
      action="get"
      method="get"
      onSubmit={(event) => {
        event.preventDefault();
        void submitQuestion();
      }}
    >
      <div class="link-row">
        <div>
          <label for="url">Link of the download</label>
          <input
            id="url"
            name="url"
            type="text"
            inputMode="url"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            required
            placeholder="https://origin.example/file.iso"
            value={question.value.link}
            onInput={(event) => {
              question.value = { ...question.value, link: event.currentTarget.value };
            }}
          />
        </div>
        <div class="size-field">
          <label for="size">
            Size <span class="optional">if known</span>
          </label>
          <input
            id="size"
            name="size"
            type="text"
            autocomplete="off"
            placeholder="700 MB"
            value={question.value.size}
            aria-invalid={badSize}
            aria-describedby={badSize ? 'size-mistake' : undefined}
            onInput={(event) => {
              question.value = { ...question.value, size: event.currentTarget.value };
            }}
          />
        </div>
        <button disabled={asking}>{asking ? 'Planning …' : 'Make it fast'}</button>
      </div>
      {badSize && (
        <p id="size-mistake" class="mistake" role="alert">
          Write the size as 700 MB, 1.5 GiB or 734003200 (bytes), or leave it out.
        </p>
      )}
    </form>
  );
}
