// The shapes of the page's data ("attnviz.page/1") and of what the views pass around. No code: the type checker alone
// reads this.

/**
 * @typedef {object} Packed  one matrix in the page: which blob, and how its codes become numbers
 * @property {number} blob
 * @property {"f32" | "u16" | "u8"} code
 * @property {number} low
 * @property {number} high
 * @property {"linear" | "sqrt"} curve
 *
 * @typedef {object} Tokens
 * @property {string[]} text
 * @property {string[]} label
 * @property {number[] | null} id
 * @property {number[]} special
 * @property {number[]} added
 * @property {number[]} generated
 * @property {number[] | null} word
 * @property {number[] | null} sentence
 * @property {number[] | null} turn
 *
 * @typedef {object} Head
 * @property {number} layer
 * @property {number} head
 * @property {string} title
 * @property {string[]} names
 * @property {number} group
 * @property {Record<string, number | null> | null} scores
 * @property {number | null} mask
 * @property {Packed} weights
 * @property {Packed} [exact]
 * @property {boolean} [leftOut]  by the reader, of the live model
 *
 * @typedef {object} Blank  layers without attention, before a row of others or after all
 * @property {string} numbers
 * @property {number} row
 * @property {string} name
 *
 * @typedef {"linear" | "sqrt" | "log" | "row-max"} ScaleKind
 *
 * @typedef {object} Drawing
 * @property {string} kind  what the numbers are: "weights", "decay", …
 * @property {string} colormap
 * @property {ScaleKind} scale
 * @property {number} low
 * @property {number} high
 * @property {boolean} drop_sink
 * @property {boolean} zero_centred
 * @property {string} value_name
 * @property {string} query_axis  "query (attending)", "target (attending)", …
 * @property {string} key_axis
 *
 * @typedef {object} StepHead
 * @property {number} layer
 * @property {number} head
 * @property {number} q
 * @property {number} k
 * @property {number} v
 * @property {number} d_head
 * @property {number} d_value
 * @property {number} scale
 * @property {number} soft_cap
 * @property {number | null} bias
 * @property {number | null} scores
 *
 * @typedef {object} PageData
 * @property {string} schema
 * @property {string} generator
 * @property {string} title
 * @property {string} command       words of the shell before the text
 * @property {string[]} commands    names of commands, which a text alone would be taken for
 * @property {string | null} command_text  the text after them, where there is one
 * @property {string | null} text
 * @property {string[]} notes
 * @property {{name: string, family: string, n_layers: number, n_heads: number, n_kv_heads: number, random: boolean, blanks: Blank[]} | null} model
 * @property {Tokens} queries
 * @property {Tokens | null} keys
 * @property {Record<string, number>} colormaps
 * @property {Drawing} drawing
 * @property {{masked: string, masked_dark: string, nan: string}} bad
 * @property {number} chosen
 * @property {string} reason
 * @property {{name: string, heads: Head[]}[]} documents
 * @property {{name: string, blob: number}[]} masks
 * @property {[number, number]} shape
 * @property {boolean} triangle
 * @property {string[]} blobs
 * @property {{heads: StepHead[], temperature: number} | null} steps
 * @property {object | null} live
 * @property {boolean} [computed_here]  by the live model, not by the program
 * @property {number} [focus]  the token that is picked at first (default: the last one)
 * @property {boolean} [focus_as_key]  who looks at it, not what it looks at
 */

/**
 * @typedef {"tokens" | "words" | "sentences" | "turns"} UnitKind
 *
 * @typedef {object} Unit  what one row or column stands for: a token, or a run of tokens taken together
 * @property {number} begin  first token
 * @property {number} end    after its last token
 * @property {string} label  safe to draw on one line
 * @property {string} text   as it reads in a paragraph
 * @property {boolean} special
 * @property {boolean} generated  by the model
 *
 * @typedef {object} State  everything that the address of a view says
 * @property {number} head                     index of a head
 * @property {number} compare                  index of a second head, or -1
 * @property {number} document                 index of a document, or -1: all, side by side
 * @property {number[]} picks                  tokens
 * @property {boolean} asKey                   picked tokens are keys: who looks at them
 * @property {string} colormap
 * @property {ScaleKind} scale
 * @property {boolean} stretch                  the colour scale ends at the largest weight in view
 * @property {boolean} dropSink
 * @property {boolean} showMask
 * @property {UnitKind} units
 * @property {"" | "heads" | "layers" | "all" | "chosen"} average
 * @property {number[]} heads                  those of the average "chosen"
 * @property {[number, number][]} folds        runs of tokens [begin, end) taken together
 *
 * @typedef {object} Shown  one pattern as drawn: merged, averaged, without its first key
 * @property {import("./matrix.js").Matrix} matrix
 * @property {import("./matrix.js").Mask} mask
 * @property {Unit[]} queries
 * @property {Unit[]} keys
 *
 * @typedef {object} Axes  what rows and columns are called
 * @property {string} query
 * @property {string} key
 *
 * @typedef {object} Panel
 * @property {string} title
 * @property {Axes} axes
 * @property {string} exactness
 * @property {Shown} shown
 *
 * @typedef {object} Hover  what the pointer is at; -1: nothing
 * @property {number} panel
 * @property {number} query
 * @property {number} key
 *
 * @typedef {object} Scene  what all views draw
 * @property {PageData} data
 * @property {State} state
 * @property {Panel[]} panels
 * @property {import("./colors.js").Shade} shade
 * @property {Theme} theme
 *
 * @typedef {object} Theme  colours for canvases, read from the style sheet
 * @property {boolean} dark
 * @property {string} background
 * @property {string} text
 * @property {string} quiet
 * @property {string} line
 * @property {string} accent
 * @property {string} masked
 * @property {string} hatch
 * @property {string} from
 * @property {string} to
 * @property {string} negative
 * @property {string} fromLine  the three for lines and bars, stronger where the paper is dark
 * @property {string} toLine
 * @property {string} negativeLine
 * @property {string} mono
 * @property {string} sans
 */
